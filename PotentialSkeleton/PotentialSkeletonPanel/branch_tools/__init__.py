"""What lies under *Branch tools*: the chosen branch, steps, clicks, and dividing vessels or organs.

`section` holds them together and knows the tree; none of them computes anything.
"""
