"""
A parcellation from grey matter maps
====================================

Grey matter of sixty people, in whom seven regions grow and shrink together. The maps are generated
from the template that comes with nilearn; the regions are known, and
`nonneg.neuro.OPNMFParcellation` finds them.
"""

import numpy as np
from nilearn import image, plotting
from nilearn.datasets import load_mni152_gm_template

from nonneg.neuro import OPNMFParcellation, compare_atlases

rng = np.random.default_rng(0)
template = load_mni152_gm_template(resolution=6)
grey = template.get_fdata()
inside = grey > 0.4 * grey.max()

# %%
# Seven regions, alike on both sides: voxels are nearest to one of seven points. A subject has an amount of each region.

places = np.argwhere(inside) @ template.affine[:3, :3].T + template.affine[:3, 3]
places[:, 0] = np.abs(places[:, 0])
centres = np.array([[20, 50, 10], [45, 10, 0], [30, -10, 55], [50, -40, 35], [15, -85, 5], [35, -60, -40], [10, -20, 5]])
truth = np.zeros(inside.shape, int)
truth[inside] = 1 + np.argmin(((places[:, None] - centres) ** 2).sum(axis=2), axis=1)
subjects = []
for _ in range(60):
    amounts = rng.gamma(20, 1 / 20, 8)
    volume = grey * amounts[truth] * inside + 0.02 * grey.max() * rng.random(grey.shape) * inside
    subjects.append(image.new_img_like(template, volume.astype(np.float32)))
mask = image.new_img_like(template, inside.astype(np.uint8))

# %%
# Fit, and compare with the regions that were planted.

model = OPNMFParcellation(7, mask=mask, random_state=0).fit(subjects)
found = compare_atlases(image.new_img_like(template, truth.astype(np.int32)), model.labels_img_)
print(f"Mean Dice coefficient: {found.dice:.2f}")

# %%

plotting.plot_roi(model.labels_img_, bg_img=template, cut_coords=(20, -20, 5), cmap="Set2", title="Seven components")
