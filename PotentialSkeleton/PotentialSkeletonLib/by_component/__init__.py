"""Curve skeletons of labelled volumes that fit in no memory, exact, component by component.

`labelled_skeleton` (entry; `component_needs` refuses what is too large) -> `filled_components`
(each component read once, its cavities filled) -> `assembly` with `large_object` in place of the
object, one component in memory at a time. `component_folder` keeps components and their skeletons.

Exactness
---------
Which voxels see which, in `skeletonize` of the whole:

- The force field of a component is a sum over the charges of all of its surface, computed by one
  Fourier transform of its box; geodesic distances, thinning and growing go through all of it, and
  the order in which voxels are removed depends on all of it. So *no part of a component smaller
  than the component gives the same bits*, and a component is done as a whole or not at all.
- Nothing of a component sees another one: its stages work on its own voxels in its own box.
- What is done for all components together is filling cavities, dropping islands, numbering, the
  graph, and radii. (So is closing tunnels, which is refused here.)

*Filling.* The whole fills the background that no path of 6-neighbours joins to the outside.
Distinct components A, B of the object are not 26-adjacent. So (1) a 2x2x2 cube never holds voxels
of both; hence two 26-adjacent voxels of B are joined by 6-neighbours outside of A, and B lies in
one 6-component of A's complement: in a cavity of A as a whole, or not. (2) If b is a background
voxel that is not joined to the outside, then the outer border of its 6-component is 26-connected
(the boundary theorem of digital topology for 6- and 26-neighbours), so it is part of one component
A, and b lies in a cavity of A. With (1), the components of the filled object are the components
that lie in no other's cavity, each with its own cavities filled and whatever is in them. The first
voxel of A comes before that of anything in its cavities, so components read in the order of their
numbers are known to be nested when their turn comes, and numbers keep their order.

*Graph.* It is made of all skeletons' voxels together, by the same code. A point lies inside the
object if up to 8 voxels of a 2x2x2 cube do, which belong to one component if they are all of the
object: so it does exactly if it lies inside a component.

*Radii.* Let p lie in component A, and let q be the voxel outside of A that is nearest to p. If q
were of another component B, a step from q towards p along an axis would give a nearer voxel that is
not of A (or p would lie in q's voxel). So q is outside of the object; it lies in A's box with a
margin of one, as its projection to this would be nearer. The same float64 expression of p and q is
evaluated as in the whole, since points are counted from the same voxel.

Limit
-----
A component needs `component_needs.BOX_VOXEL` bytes for each voxel of its box, so the largest
component's box has to fit into memory. One that is larger is refused before anything is computed,
by its number, size and box.
"""

from .labelled_skeleton import skeletonize_components

__all__ = ["skeletonize_components"]
