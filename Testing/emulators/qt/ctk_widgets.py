"""Stand-ins for CTK's widgets."""

from PySide6.QtCore import Property, QEvent, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QDoubleSpinBox,
    QHBoxLayout,
    QSizePolicy,
    QSlider,
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QWidget,
)

HEADER = 24  # pixels
MOST = 16777215  # Qt's largest size
WANTED = "visibilityToParent"  # CTK's property of a child
STEPS = 10000  # of the slider below a number with digits


def stored(kind, name, default, changed=None):
    """A property that is only kept; `changed` is called with the widget afterwards."""

    def read(self):
        return self.__dict__.get("_" + name, default)

    def write(self, value):
        setattr(self, "_" + name, value)
        if changed:
            changed(self)

    return Property(kind, read, write)


class ctkCollapsibleButton(QAbstractButton):
    """A header; the widgets inside are hidden while it is collapsed."""

    contentsCollapsed = Signal(bool)

    def __init__(self, *arguments):
        super().__init__(next((each for each in arguments if isinstance(each, QWidget)), None))
        self.text = next((each for each in arguments if isinstance(each, str)), "")
        self._collapsed = self._forcing = False
        self.setCheckable(True)
        self.setChecked(True)
        self.setSizePolicy(QSizePolicy.Minimum, QSizePolicy.Preferred)
        self.setContentsMargins(0, HEADER, 0, 0)
        self.toggled.connect(lambda checked: self._collapse(not checked))

    def _collapse(self, collapsed):
        if collapsed == self._collapsed:
            return
        self._collapsed = collapsed
        self.setChecked(not collapsed)
        for child in self.children():
            if isinstance(child, QWidget):
                self._show_child(child)
        self.setMaximumHeight(HEADER if collapsed else MOST)
        self.updateGeometry()
        self.contentsCollapsed.emit(collapsed)

    collapsed = Property(bool, lambda self: self._collapsed, _collapse)

    def childEvent(self, event):
        if event.added() and event.child().isWidgetType():
            event.child().installEventFilter(self)
            if self._collapsed:
                self._show_child(event.child())
        super().childEvent(event)

    def eventFilter(self, child, event):
        """A child that is hidden or shown by itself is so when this is open, as in CTK."""
        kind = event.type()
        if kind in (QEvent.ShowToParent, QEvent.HideToParent) and not self._forcing:
            child.setProperty(WANTED, kind == QEvent.ShowToParent)
            self._show_child(child)
        return False

    def _show_child(self, child):
        wanted = child.property(WANTED)
        self._forcing = True
        child.setVisible(not self._collapsed and (wanted is None or wanted))
        self._forcing = False

    def sizeHint(self):
        return self._size("totalSizeHint", super().sizeHint())

    def minimumSizeHint(self):
        return self._size("totalMinimumSize", super().minimumSizeHint())

    def _size(self, kind, header):
        inside = self.layout()
        if inside is not None and not self._collapsed:
            return getattr(inside, kind)()
        header.setHeight(HEADER)
        return header

    def hitButton(self, position):
        return position.y() < HEADER

    def paintEvent(self, _event):
        painter = QPainter(self)
        option = QStyleOptionButton()
        option.initFrom(self)
        option.rect = QRect(0, 0, self.width, HEADER)
        self.style().drawControl(QStyle.CE_PushButtonBevel, option, painter, self)
        arrow = QStyleOption()
        arrow.initFrom(self)
        arrow.rect = QRect(8, 7, 10, 10)
        shape = QStyle.PE_IndicatorArrowRight if self._collapsed else QStyle.PE_IndicatorArrowDown
        self.style().drawPrimitive(shape, arrow, painter, self)
        painter.drawText(QRect(24, 0, self.width - 24, HEADER), Qt.AlignVCenter, self.text)
        painter.end()


def _of_part(kind, part, name):
    """A property of a slider that is its bar's or its spin box's."""
    return Property(
        kind,
        lambda self: getattr(self.__dict__[part], name),
        lambda self, value: setattr(self.__dict__[part], name, value),
    )


class ctkSliderWidget(QWidget):
    """A slider and a spin box."""

    valueChanged = Signal(float)
    valueIsChanging = Signal(float)

    def __init__(self, parent=None):
        super().__init__(parent)
        self._slider = QSlider(Qt.Horizontal)
        self._slider.setRange(0, STEPS)
        self._box = QDoubleSpinBox()
        self._moving, self._last = False, 0.0
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._slider, 1)
        layout.addWidget(self._box)
        self._box.setRange(0, 99)
        self._box.valueChanged.connect(self._on_box)
        self._slider.valueChanged.connect(self._on_slider)
        self._slider.sliderReleased.connect(self._tell)
        self.setFocusProxy(self._box)

    def _on_box(self, value):
        box = self._box
        length = box.maximum - box.minimum
        self._moving = True
        self._slider.setValue(round((value - box.minimum) / length * STEPS) if length else 0)
        self._moving = False
        if self.tracking or not self._slider.sliderDown:
            self._tell()
        else:
            self.valueIsChanging.emit(value)

    def _on_slider(self, position):
        if not self._moving:
            box = self._box
            box.setValue(box.minimum + (box.maximum - box.minimum) * position / STEPS)

    def _tell(self):
        value = self._box.value
        if value != self._last:
            self._last = value
            self.valueChanged.emit(value)

    def setValue(self, value):
        self._box.setValue(value)

    @staticmethod
    def _limit(name):
        def write(self, value):
            setattr(self._box, name, value)
            self._on_box(self._box.value)  # the handle stands elsewhere between other limits

        return Property(float, lambda self: getattr(self._box, name), write)

    value = Property(float, lambda self: self._box.value, setValue)
    minimum = _limit("minimum")
    maximum = _limit("maximum")
    singleStep = _of_part(float, "_box", "singleStep")
    decimals = _of_part(int, "_box", "decimals")
    suffix = _of_part(str, "_box", "suffix")
    prefix = _of_part(str, "_box", "prefix")
    spinBoxVisible = Property(
        bool,
        lambda self: not self._box.isHidden(),
        lambda self, visible: self._box.setVisible(visible),
    )
    tracking = stored(bool, "tracking", True)
    invertedAppearance = _of_part(bool, "_slider", "invertedAppearance")


WIDGETS = (ctkCollapsibleButton, ctkSliderWidget)
