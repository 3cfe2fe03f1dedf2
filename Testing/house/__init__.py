"""How large and how easy to read the project is: figures by ``python -m house`` in `Testing`."""
