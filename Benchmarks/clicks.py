"""How many clicks to which Dice: a simulated person, the default, the papers, and other methods.

The protocol of interactive segmentation: the first click lies in the deepest voxel of the vessels,
each further one in that of the largest 26-connected error, missed (a vessel click) or false (a
background click). The person reacts to each method's own result. Surface: the share of both borders
within one voxel of the other; clDice: Dice of the centrelines (Shit et al., CVPR 2021).
"""

import json
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter

import numpy as np
from scipy import ndimage

from FuzzyConnectedGPULib import ContrastMapCache, estimate_affinity, segment, segment_several
from PotentialSkeletonLib import skeletonize

from .frame import Setting, Table
from .volumes import Case, click_cases, inside_liver, liver, phantom_cases, read

SHOWN, RANDOM = (1, 2, 3, 5, 8), 10
BOX = np.ones((3, 3, 3), bool)
SMOOTHING = 0.7  # standard deviation in voxels, of the methods that threshold
Voxels = list[tuple[int, int, int]]
Method = Callable[[Case, Voxels, Voxels], np.ndarray]


def ours(device: str, by_affinity: bool = False, **options) -> Method:
    """`segment` as users have it, or with the papers' affinity round the clicks."""
    cached = ContrastMapCache()

    def run(case: Case, vessel: Voxels, background: Voxels) -> np.ndarray:
        own = {"affinity": estimate_affinity(case.volume, vessel)} if by_affinity else {}
        found = segment(
            case.volume, np.array(vessel), spacing=case.spacing, mask=case.mask, device=device,
            background_seeds=np.array(background) if background else None,
            cached=cached, **own, **options,
        )  # fmt: skip
        run.values = found.scene.values  # type: ignore[attr-defined]
        return found.labels > 0

    return run


def halfway(case: Case, vessel: Voxels, background: Voxels) -> np.ndarray:
    """Region growing above halfway between the clicks' mean and the image's median."""
    inside = case.volume if case.mask is None else case.volume[case.mask]
    level = (np.mean([case.volume[voxel] for voxel in vessel]) + np.median(inside)) / 2
    return _clicked(_smoothed(case) >= level, case, vessel)


def otsu(case: Case, vessel: Voxels, background: Voxels) -> np.ndarray:
    """The clicked components above Otsu's threshold inside the mask."""
    from skimage.filters import threshold_otsu

    image = _smoothed(case)
    inside = image if case.mask is None else image[case.mask]
    return _clicked(image > threshold_otsu(inside), case, vessel)


def growcut(case: Case, vessel: Voxels, background: Voxels) -> np.ndarray:
    """Fast GrowCut (Zhu et al. 2014), Slicer's "Grow from seeds", by the package itk-growcut.

    Each click is a box of 3 x 3 x 3 voxels; what is not brighter than the median is background.
    """
    import itk

    image = _smoothed(case)
    dark = np.median(image if case.mask is None else image[case.mask])
    labels = (image <= dark).astype(np.uint8)
    for voxel, label in [(v, 2) for v in vessel] + [(v, 1) for v in background]:
        labels[tuple(slice(max(at - 1, 0), at + 2) for at in voxel)] = label

    def padded(array: np.ndarray, mode: str = "constant"):
        made = itk.image_from_array(np.pad(array, 1, mode=mode))
        made.SetSpacing([float(step) for step in case.spacing[::-1]])
        return made

    options = {"seed_image": padded(labels)}
    if case.mask is not None:
        options["mask_image"] = padded((~case.mask).astype(np.uint8))  # what it leaves out
    found = np.asarray(itk.fast_grow_cut(padded(image, "edge"), **options))[1:-1, 1:-1, 1:-1] == 2
    return found if case.mask is None else found & case.mask


def _smoothed(case: Case) -> np.ndarray:
    return ndimage.gaussian_filter(case.volume.astype(np.float32), SMOOTHING)


def _clicked(bright: np.ndarray, case: Case, vessel: Voxels) -> np.ndarray:
    labels, _ = ndimage.label(bright if case.mask is None else bright & case.mask)
    wanted = {labels[voxel] for voxel in vessel} - {0}
    return np.isin(labels, list(wanted))


METHODS: dict[str, Callable[[str], Method]] = {
    "ours": ours,
    "papers-affinity": lambda device: ours(device, by_affinity=True),
    "halfway": lambda device: halfway,
    "otsu": lambda device: otsu,
    "growcut": lambda device: growcut,
}
PACKAGES = {"otsu": "skimage", "growcut": "itk"}


def deepest_voxel(error: np.ndarray, spacing) -> tuple[tuple | None, int]:
    """The deepest voxel (mm) of the largest 26-connected component, and the component's size."""
    labels, count = ndimage.label(error, BOX)
    if not count:
        return None, 0
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    largest = int(sizes.argmax())
    box = ndimage.find_objects(labels)[largest - 1]
    part = np.pad(labels[box] == largest, 1)
    depth = ndimage.distance_transform_edt(part, sampling=spacing)[1:-1, 1:-1, 1:-1]
    place = np.unravel_index(depth.argmax(), depth.shape)
    return tuple(int(at + s.start) for at, s in zip(place, box, strict=True)), int(sizes[largest])


def clicks_inside(mask: np.ndarray, count: int, spacing) -> Voxels:
    """Deepest voxels of a vessel, each at least a part of it away from those before."""
    rest, found = mask.copy(), []
    axes = np.ogrid[tuple(slice(0, n) for n in mask.shape)]
    apart = 0.08 * max(n * s for n, s in zip(mask.shape, spacing, strict=True))
    while len(found) < count and (voxel := deepest_voxel(rest, spacing)[0]) is not None:
        found.append(voxel)
        square = sum(((x - at) * s) ** 2 for x, at, s in zip(axes, voxel, spacing, strict=True))
        rest &= square > apart**2
    return found


def dice(first: np.ndarray, second: np.ndarray) -> float:
    """Twice the common voxels over the voxels of both."""
    total = np.count_nonzero(first) + np.count_nonzero(second)
    return 2 * np.count_nonzero(first & second) / total if total else 1.0


def best_slider(values: np.ndarray, truth: np.ndarray) -> float:
    """The Dice of the best cut of a scene, which a person who knows the truth would choose."""
    return max(dice(values >= cut, truth) for cut in np.linspace(0.1, 0.9, 33))


def centreline_dice(result: np.ndarray, truth: np.ndarray) -> float:
    """clDice, by scikit-image's skeletons (Lee et al. 1994)."""
    from skimage.morphology import skeletonize

    shares = []
    for line, whole in ((skeletonize(result), truth), (skeletonize(truth), result)):
        size = np.count_nonzero(line)
        shares.append(np.count_nonzero(line & whole) / size if size else 0.0)
    return 2 * shares[0] * shares[1] / sum(shares) if sum(shares) else 0.0


def surface_dice(result: np.ndarray, truth: np.ndarray) -> float:
    """The share of both borders that lies within one voxel of the other border."""
    own, other = (mask & ~ndimage.binary_erosion(mask, border_value=1) for mask in (result, truth))
    near = np.count_nonzero(own & ndimage.binary_dilation(other, BOX))
    near += np.count_nonzero(other & ndimage.binary_dilation(own, BOX))
    total = np.count_nonzero(own) + np.count_nonzero(other)
    return near / total if total else 1.0


def by_clicks(setting: Setting) -> Table:
    """Mean Dice by the number of clicks, of ours and the other methods."""
    return _by_clicks(setting, click_cases(setting), list(METHODS))


def on_phantoms(setting: Setting) -> Table:
    """The same of ours alone on phantoms of other vessels, noise and spacing."""
    return _by_clicks(setting, phantom_cases(setting), ["ours"])


def _by_clicks(setting: Setting, cases: list[Case], methods: list[str]) -> Table:
    rows = []
    for case in cases:
        truth = np.logical_or.reduce(list(case.vessels.values()))
        for name, make in _methods(methods).items():
            rows.append({"case": case.name, "method": name} | _session(make, case, truth, setting))
    numbers = [str(n) for n in SHOWN if n <= _clicks(setting)]
    measures = {"first": "one click, best slider", "best": "last click, best slider"}
    measures |= {"cldice": "clDice", "surface": "surface Dice"}
    for name in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == name]
        mean = {key: float(np.mean([r[key] for r in own])) for key in (*numbers, *measures)}
        mean |= {key: sum(r[key] for r in own) for key in ("disobeyed", "seconds")}
        rows.append({"case": "mean", "method": name, "worst": min(r["worst"] for r in own)} | mean)
    columns = {
        "case": "case", "method": "method", **{n: f"Dice after {n}" for n in numbers},
        "disobeyed": "not honoured", "worst": "worst step", **measures, "seconds": "seconds",
    }  # fmt: skip
    plot = {"kind": "columns", "series": "method", "keys": numbers, "only": {"case": "mean"}}
    plot |= {"x_name": "clicks", "y_name": "mean Dice"}
    absent = [name for name in methods if name not in _methods(methods)]
    notes = [f"Not installed: {', '.join(absent)}."] if absent else []
    return Table("Interactive segmentation: Dice by clicks", columns, rows, notes, plot)


def _methods(names: list[str]) -> dict:
    return {n: METHODS[n] for n in names if n not in PACKAGES or find_spec(PACKAGES[n])}


def _clicks(setting: Setting) -> int:
    return 2 if setting.quick else max(SHOWN)


def _session(make: Callable, case: Case, truth: np.ndarray, setting: Setting) -> dict:
    """Dice after each click, clicks that the result contradicts, the worst step, and seconds."""
    method = make(setting.cuda or "cpu")
    result, row = np.zeros(truth.shape, bool), {"disobeyed": 0, "worst": 0.0, "seconds": 0.0}
    vessel: Voxels = []
    background: Voxels = []
    for number in range(1, _clicks(setting) + 1):
        missed, missed_size = deepest_voxel(truth & ~result, case.spacing)
        false, false_size = deepest_voxel(result & ~truth, case.spacing)
        is_vessel = not vessel or missed_size >= false_size
        voxel = missed if is_vessel else false
        if voxel is not None:
            (vessel if is_vessel else background).append(voxel)
            begin = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = method(case, list(dict.fromkeys(vessel)), list(dict.fromkeys(background)))
            row["seconds"] += perf_counter() - begin
        row["disobeyed"] += sum(not result[v] for v in vessel)
        row["disobeyed"] += sum(bool(result[v]) for v in background)
        row[str(number)] = dice(result, truth)
        if number == 1:
            row["first"] = _best(method, result, truth)
        else:
            row["worst"] = min(row["worst"], row[str(number)] - row[str(number - 1)])
    row |= {"cldice": centreline_dice(result, truth), "surface": surface_dice(result, truth)}
    return row | {"best": _best(method, result, truth)}


def _best(method: Method, result: np.ndarray, truth: np.ndarray) -> float:
    """Dice by the best slider; of a method without one, its own."""
    values = getattr(method, "values", None)
    return dice(result, truth) if values is None else best_slider(values, truth)


def by_random_click(setting: Setting) -> Table:
    """Dice after one click at each of some random places in the vessels, and by the best slider."""
    rows = []
    for case in click_cases(setting):
        truth = np.logical_or.reduce(list(case.vessels.values()))
        count = 2 if setting.quick else RANDOM
        voxels = np.random.default_rng(0).choice(np.argwhere(truth), count, False)
        found, best = [], []
        for voxel in voxels:
            scene = segment(
                case.volume, [voxel], spacing=case.spacing, mask=case.mask,
                device=setting.cuda or "cpu",
            )  # fmt: skip
            found.append(dice(scene.labels > 0, truth))
            best.append(best_slider(scene.scene.values, truth))
        row = {"case": case.name, "dice": float(np.mean(found)), "best": float(np.mean(best))}
        rows.append(row | {"least": min(found)})
    columns = {"dice": "mean Dice", "best": "with the best slider", "least": "least Dice"}
    means = {key: float(np.mean([row[key] for row in rows])) for key in columns}
    plot = {"kind": "bars", "label": "case", "value": "dice"}
    title = "One click at random places in the vessels"
    return Table(title, {"case": "case"} | columns, [*rows, {"case": "mean"} | means], [], plot)


def by_vessels(setting: Setting) -> Table:
    """Portal and hepatic veins with one, two and three clicks each: together, or in turn."""
    cases = [inside_liver(liver(setting.size(96, 160, 160)))]
    cases += [case for case in click_cases(setting)[:1] if setting.data]
    ways = {"several": _several, "one after the other": _in_turn}
    rows = [_clicked_vessels(c, name, way) for c in cases for name, way in ways.items()]
    names = {"way": "way", **{str(n): f"mean Dice {n}" for n in (1, 2, 3)}}
    columns = {"case": "case", **names, "wrong": "of the other vessel"}
    notes = ["Wrong: voxels of a known vessel that the other one has, as a share of all known."]
    plot = {"kind": "bars", "label": "way", "group": "case", "value": "3"}
    return Table("Several vessels: Dice of each by clicks", columns, rows, notes, plot)


def _several(case: Case, points: dict, background: Voxels) -> np.ndarray:
    keywords = {"spacing": case.spacing, "mask": case.mask, "device": "cpu"}
    background = np.array(background) if background else None
    found = segment_several(case.volume, points, background_seeds=background, **keywords)
    return found.labels


def _in_turn(case: Case, points: dict, background: Voxels) -> np.ndarray:
    labels = np.zeros(case.volume.shape, np.uint8)
    for label, name in enumerate(points, 1):
        others = [v for other, its in points.items() if other != name for v in its]
        found = _several(case, {name: points[name]}, background + others)
        labels[(found > 0) & (labels == 0)] = label
    return labels


def _clicked_vessels(case: Case, name: str, way: Callable) -> dict:
    row: dict = {"case": case.name, "way": name}
    points: dict[str, Voxels] = {vessel: [] for vessel in case.vessels}
    background: Voxels = []
    labels = np.zeros(case.volume.shape, np.uint8)
    for count in (1, 2, 3):
        for number, (vessel, truth) in enumerate(case.vessels.items(), 1):
            missed, missed_size = deepest_voxel(truth & ~(labels == number), case.spacing)
            false, false_size = deepest_voxel((labels == number) & ~truth, case.spacing)
            if count == 1 or missed_size >= false_size:
                voxel, target = missed, points[vessel]
            else:
                owners = [points[other] for other, its in case.vessels.items() if its[false]]
                voxel, target = false, (owners or [background])[0]
            if voxel is not None and not any(
                voxel in each for each in (background, *points.values())
            ):
                target.append(voxel)
        labels = way(case, points, background)
        scores = [dice(labels == n, truth) for n, truth in enumerate(case.vessels.values(), 1)]
        row[str(count)] = float(np.mean(scores))
    known = [(labels[truth], n) for n, truth in enumerate(case.vessels.values(), 1)]
    wrong = sum(np.count_nonzero((own > 0) & (own != n)) for own, n in known)
    return row | {"wrong": wrong / sum(own.size for own, _ in known)}


TRUNK, BRANCH = "portal vein, main trunk", "portal branch inside liver"
CAVA, HEPATIC, AORTA = "inferior vena cava", "hepatic vein inside liver", "aorta"
CT, VEINS = "ircadb01_01_ct.nrrd", ("portalvein", "venoussystem")
WILLIS = ("internal carotid, low-I side", "internal carotid, high-I side", "basilar artery")
HEAD = ("left internal carotid", "right internal carotid", "basilar artery")
# Case: scan, points by their labels in seeds.json, points that are no vessel, mask, truth, model.
SCANS = {
    "portal vein, one click": (CT, (TRUNK,), (), "", VEINS[:1], "contrast"),
    "portal vein, two clicks": (CT, (TRUNK, BRANCH), (), "", VEINS[:1], "contrast"),
    "portal vein, two clicks, others as Not vessel": (
        CT, (TRUNK, BRANCH), (CAVA, HEPATIC, AORTA), "", VEINS[:1], "contrast",
    ),
    "vessels in the liver, inside its mask": (
        CT, (BRANCH, HEPATIC), (), "liver", VEINS, "contrast",
    ),
    "aorta, one click": (CT, (AORTA,), (), "", ("artery",), "contrast"),
    "aorta, one click, model affinity": (CT, (AORTA,), (), "", ("artery",), "affinity"),
    "abdominal aorta, MRA": (
        "aorta_mra.mha", ("abdominal aorta, widest point",), (), "", (), "contrast",
    ),
    "circle of Willis, MRA": ("circle_of_willis_mra_small.nrrd", WILLIS, (), "", (), "contrast"),
    "head, time of flight": ("head_mra_oblique.nii.gz", HEAD, (), "", (), "contrast"),
}  # fmt: skip


def by_scan(setting: Setting) -> Table:
    """The tutorial's steps on scans with expert masks, and the branches of the result."""
    rows = []
    for name, case in SCANS.items() if setting.data else ():
        rows.append({"case": name} | _of_scan(setting.data, *case))
    columns = ("case", "ml", "dice", "recall", "precision", "branches", "loops")
    notes = [] if rows else ["Needs --data."]
    return Table("The tutorial on scans", {name: name for name in columns}, rows, notes)


def _of_scan(folder, scan, points, background, mask, truth, model) -> dict:
    known = json.loads((folder / "seeds.json").read_text())[scan]
    listed = [each for kind in known.values() if isinstance(kind, list) for each in kind]
    places = {each["label"]: each["ijk"][::-1] for each in listed}
    volume, spacing = read(folder / scan)
    masks = [read(folder / f"ircadb01_01_{each}.nrrd")[0] > 0 for each in (mask, *truth) if each]
    inside = masks[0] if mask else None
    found = segment(
        volume, [places[each] for each in points], spacing=spacing, mask=inside, model=model,
        background_seeds=[places[each] for each in background] or None, device="cpu",
    ).labels > 0  # fmt: skip
    lines = skeletonize(found, spacing, device="cpu", drop_islands=27)
    row = {"ml": np.count_nonzero(found) * float(np.prod(spacing)) / 1000}
    row |= {"branches": len(lines.branches), "loops": lines.report["skeleton_cycles"]}
    if truth:
        known_voxels = np.logical_or.reduce(masks[bool(mask) :]) & (
            True if inside is None else inside
        )
        both = np.count_nonzero(found & known_voxels)
        row |= {"dice": dice(found, known_voxels), "precision": both / np.count_nonzero(found)}
        row["recall"] = both / np.count_nonzero(known_voxels)
    return row
