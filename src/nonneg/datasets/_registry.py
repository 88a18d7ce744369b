"""The files of the data sets: where each comes from, and what it must be, to the byte.

Nothing of them is part of the library. A path is the same in the cache, and in any folder that ``NONNEG_DATA`` names. A new data
set is its files here, and one loader in the module of its family.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file that a loader reads.

    Attributes
    ----------
    path : str
        Its place below the folder of the data, with forward slashes.
    sha256 : str
        The hash of its content; empty for the pictures of a set that is checked as a whole.
    bytes : int
        Its size.
    url : str, optional
        Where it is downloaded from, at a fixed commit; None if it is made from others.
    sources : tuple of str
        The files that it is made from, if it is.
    archive_sha256 : str
        The hash of the zip archive at the url that it is a member of; empty if the url is of the file itself, or of a tar archive
        whose hash is not known.
    member : str
        Its name in the archive.
    """

    path: str
    sha256: str
    bytes: int
    url: str | None = None
    sources: tuple[str, ...] = ()
    archive_sha256: str = ""
    member: str = ""


def _github(path: str, sha256: str, size: int, repository: str, commit: str, source: str) -> File:
    return File(path, sha256, size, f"https://raw.githubusercontent.com/{repository}/{commit}/{source}")


ORL_IMAGES = [
    _github(
        f"faces/orl_112x92/att_faces/s{subject}/{image}.pgm",
        "",
        10350,
        "ChiTatZhang/server_graduate",
        "0493bc9ab41f854477d891d1553ffce41918e8ae",
        f"att_faces/s{subject}/{image}.pgm",
    )
    for subject in range(1, 41)
    for image in range(1, 11)
]
ORL_PIXELS = (
    "2e4844a9f4fa4397058f69d6208047170f2e9d399cda18b55c1e8d28f0a83431"  # SHA-256 of the 400 × 112 × 92 greys, in that order
)

FACES = [
    # cbcl
    _github(
        "faces/cbcl/CBCL.mat",
        "b2c4a9c3933f1dbc20889efb65e4aaa7a339ec91a13f93ead909c94b23993fa0",
        877056,
        "amjadseyedi/NMFcUDA",
        "6e0d0bb4612790df2b06cd8cc327c85fc446c245",
        "CBCL.mat",
    ),
    _github(
        "faces/cbcl/CBCL_Face.mat",
        "bf183d48b74fc6c7434eeb5123b7c7461e78c606c1a37d4116152f8868dc5254",
        1460029,
        "hiroyuki-kasai/NMFLibrary",
        "ed44132dfe1b5495df685006b42259f0bd16bea3",
        "data/CBCL_Face.mat",
    ),
    File(
        "faces/cbcl/cbcl_histeq_train_test.npz",
        "db554334f1a0f31e238b5656f881c266d3354efac21ed76dd23b8b128b253af3",
        1024380,
        sources=("faces/cbcl/cbcl_train_test_faces.RData",),
    ),
    File(
        "faces/cbcl/cbcl_raw_361x2429.npz",
        "52578c0c09799a878d0ec1b6c3c30c8b403a1bb67ca4bc1fe9cda2a306627780",
        830841,
        sources=("faces/cbcl/CBCL_Face.mat",),
    ),
    _github(
        "faces/cbcl/cbcl_train_test_faces.RData",
        "aa135d2f16d59fa9841c5b3d1e9115f26e571f912aa0345224969c3a7dcb41bd",
        1041413,
        "willwerscheid/ebnmf-paper",
        "4a7c7690a2bf98397dc3876942157cb1aa5c8da0",
        "data/faces.RData",
    ),
    # feret
    _github(
        "faces/feret/faces.rda",
        "fe8cec2451d1c0dff1da0153d56e58987ab09456cf7878ccc67f48f56609907e",
        2576366,
        "richardbeare/pNMF",
        "d4befdd9a5604551bf67aa1af05cb3eb3dc94a3a",
        "data/faces.rda",
    ),
    File(
        "faces/feret/feret_2409x1024.npz",
        "394321ddfcfbb456adac23f93e34ce777d5fb8a9b8e4f2744064bb2ecb522509",
        2364763,
        sources=("faces/feret/faces.rda",),
    ),
    # orl_112x92
    File(
        "faces/orl_112x92/orl_112x92.npz",
        "25e0fdf0b2f70e8ee52dbfcb8d4623a10b61f78e1ec33b95c5d3164b3bbde1fc",
        3687893,
        sources=tuple(file.path for file in ORL_IMAGES),
    ),
    # orl_32x32
    _github(
        "faces/orl_32x32/ORL_32x32.mat",
        "33f9aac402c42900eee6e3d3c180f09df1714e87d9db29d2371887e4daf51641",
        2153022,
        "DeyuTsang/SGSSC",
        "a64d1cb751dc7858269bfe35469b7ac6bc08daba",
        "ORL_32x32.mat",
    ),
    # yale_32x32
    _github(
        "faces/yale_32x32/Yale_32x32.mat",
        "beb3cc9f448c1ab786583c8f5429368c299843ee88263f9650ed463004ef7633",
        161026,
        "ma-xu/ORL3",
        "0efe9e8df8fd3642fbf1f5e258f51165e475b1f1",
        "Yale_32x32.mat",
    ),
    # olivetti
    _github(
        "faces/olivetti/olivettifaces.mat",
        "b1988d02c72fe5b8ee82b5ef3bb7982eafc74f1e1ff0ae0ade35061ad0af534d",
        1432511,
        "sjgershm/DBM",
        "a30d9abb523aab874a299b8b1aa21e7df2023f60",
        "olivettifaces.mat",
    ),
    # opnmf_ref
    _github(
        "faces/opnmf_ref/faces_data.mat",
        "696e8048c355c70a2a5a120f486d509b2aafc0b1f9a31e5c7d22b49287cc1183",
        6563448,
        "juaml/opnmf",
        "fffbf72e3afc08a70af15f3240d9dec044cefe11",
        "opnmf/tests/data/faces_data.mat",
    ),
    _github(
        "faces/opnmf_ref/faces_op6.mat",
        "190af4090b28b44559708608f3ef282d73c15ddba98617ea06b191e736d1c68a",
        413256,
        "juaml/opnmf",
        "fffbf72e3afc08a70af15f3240d9dec044cefe11",
        "opnmf/tests/data/faces_op6.mat",
    ),
    _github(
        "faces/opnmf_ref/opnmf6_R.mat",
        "909097866a732ee3a1034f20071c0b89f57a0261f710b84c69355e27ed16045b",
        216048,
        "juaml/opnmf",
        "fffbf72e3afc08a70af15f3240d9dec044cefe11",
        "opnmf/tests/data/opnmf6_R.mat",
    ),
    _github(
        "faces/opnmf_ref/opnmf6_matlab.mat",
        "3cb041381ecd6bea976329f15c24e0f88cb0d75d543241fef55dc01827f76af9",
        90376,
        "juaml/opnmf",
        "fffbf72e3afc08a70af15f3240d9dec044cefe11",
        "opnmf/tests/data/opnmf6_matlab.mat",
    ),
    # pie_pose27
    _github(
        "faces/pie_pose27/PIE_pose27.mat",
        "035fdd73d5f4234d958b3c88f20bd8aae3871080246139896a23e61487134680",
        2583034,
        "hiroyuki-kasai/NMFLibrary",
        "ed44132dfe1b5495df685006b42259f0bd16bea3",
        "data/PIE_pose27.mat",
    ),
    # swimmer
    _github(
        "faces/swimmer/swimmer.mat",
        "fa5adb6082ff73cf90dfbf8671b20c65488164a48103f9e1bc2befa2b1f3d51f",
        262336,
        "willwerscheid/ebnmf-paper",
        "4a7c7690a2bf98397dc3876942157cb1aa5c8da0",
        "data/swimmer.mat",
    ),
    # swimmer_9x14
    _github(
        "faces/swimmer_9x14/swimmer.mat",
        "4d7febb91bfdf4e46cbc6ce0c4969193c7d4d0be149e35e1046cf06042aed1be",
        2252,
        "msh04/Tensor-Decompositions-Spring-2024",
        "f2aa088c48102cc77226a3f876f14f814cc08668",
        "swimmer.mat",
    ),
]

MRI = [
    # mni152
    _github(
        "mri/mni152/mni_icbm152_gm_tal_nlin_sym_09a_converted.nii.gz",
        "97a5ca69bd24db37a9cb7b32525e1733a209af904129bf1cd36da06d24243bed",
        1965510,
        "nilearn/nilearn",
        "7f8a0eb411acd5cb8f525b3c33897eeadb3549cf",
        "nilearn/datasets/data/mni_icbm152_gm_tal_nlin_sym_09a_converted.nii.gz",
    ),
    _github(
        "mri/mni152/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz",
        "421a10e872fd6cadae7f61d358dffbcc1795a497d61ee76c5dda2503e1a1e9e6",
        1617531,
        "nilearn/nilearn",
        "a0115edefd75f5c9c31802ea0336c2e015cc784e",
        "nilearn/datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz",
    ),
    _github(
        "mri/mni152/mni_icbm152_wm_tal_nlin_sym_09a_converted.nii.gz",
        "382d92812de4744f9c86c7a0e4f680dc317a0a50e4da1f0153618a6798c7b7db",
        1553010,
        "nilearn/nilearn",
        "1ef4c9e71bbab158bbd181a9e9f52cbae72ce3a9",
        "nilearn/datasets/data/mni_icbm152_wm_tal_nlin_sym_09a_converted.nii.gz",
    ),
    # ixi_n10
    _github(
        "mri/ixi_n10/dlmuse/IXI012-HH-1211-T1_ds_DLMUSE.nii.gz",
        "6391dd8cdfccaa7f7eb35b40da3affd5330099aad60db13579166e0f0780e352",
        74632,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI012-HH-1211-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI013-HH-1212-T1_ds_DLMUSE.nii.gz",
        "893eff4670897f1a8f82f35927aad8f9e33cd960d3e212093156610aa03f99ef",
        72506,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI013-HH-1212-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI014-HH-1236-T1_ds_DLMUSE.nii.gz",
        "d48f555c50893ff0aa7753abb45a7c9e75e9057648d4cd1863f41f189a0e0525",
        65503,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI014-HH-1236-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI015-HH-1258-T1_ds_DLMUSE.nii.gz",
        "67f3d2e43e42841553d74d2e81aee7a5bb031d147792b14372adbc4033a13116",
        68729,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI015-HH-1258-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI033-HH-1259-T1_ds_DLMUSE.nii.gz",
        "311cd6d59b6bf658f3482d8289b7816a16b055b52352483ace91877cb9d7f6ae",
        70826,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI033-HH-1259-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI034-HH-1260-T1_ds_DLMUSE.nii.gz",
        "ba148de5105b8d4322048947ee73ddc00ef9ca1191877dbef30404b62ee9df63",
        68753,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI034-HH-1260-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI039-HH-1261-T1_ds_DLMUSE.nii.gz",
        "5b4655d186475f089e01d6124e93e7552f1cfd654d474d2cf2bde53cd5b71e38",
        77316,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI039-HH-1261-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI048-HH-1326-T1_ds_DLMUSE.nii.gz",
        "ad9fbb847aca6af4cf50da6fb3377806e48d4c579ff49fe8d5ec0279e08b9907",
        75374,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI048-HH-1326-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI049-HH-1358-T1_ds_DLMUSE.nii.gz",
        "9ef8f2c614a7b657338a26ff4bf4642339ca6f61e5f617d0f6103b8524648af8",
        73375,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI049-HH-1358-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI051-HH-1328-T1_ds_DLMUSE.nii.gz",
        "26f4e46a22dc168d46ef1b3adf308cf88a582b33bb3ba4f7ef987fb0270a927f",
        70417,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI051-HH-1328-T1_ds_DLMUSE.nii.gz",
    ),
    _github(
        "mri/ixi_n10/dlmuse/IXI_dlmuse.csv",
        "064c734714746dbdd6699958bb5e81240668478f0da3deb0880c7cc47fc67db0",
        20860,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/dlmuse/IXI_dlmuse.csv",
    ),
    _github(
        "mri/ixi_n10/lists/IXI_demog_n10.csv",
        "bd0174568b12a5ae62ad7a09b4721aefd9a55f3cbf4a9ea3b809163a9410e630",
        243,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/lists/IXI_demog_n10.csv",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI012-HH-1211-T1_ds.nii.gz",
        "d4d595a3d2ea2a0b597be64054193bf52cbea37dfdea8424459154991fc8eba3",
        700721,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI012-HH-1211-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI013-HH-1212-T1_ds.nii.gz",
        "3d9f39cc7ce649573361494da47708a19d40b230fc40660296281f1bcee26be7",
        632613,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI013-HH-1212-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI014-HH-1236-T1_ds.nii.gz",
        "74c815403bde182fe762bf8f63288fa06891546f899e55e33b68f1a9146240c2",
        550117,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI014-HH-1236-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI015-HH-1258-T1_ds.nii.gz",
        "0ef3b676a5fd76583d76edf9176cdac89732e5663b44680764ad3908644d223a",
        606096,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI015-HH-1258-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI033-HH-1259-T1_ds.nii.gz",
        "1a668062b42c2a64737a0375cbe457187a63e756aaa3d9602eb9a05c4b169bc5",
        568431,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI033-HH-1259-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI034-HH-1260-T1_ds.nii.gz",
        "c2c52c9d50fee114e494af194b79887df8c5b6b9d5cd0f554507b0ce8a838395",
        491540,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI034-HH-1260-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI039-HH-1261-T1_ds.nii.gz",
        "709d996de85933843fd2bd91c8d52194945562b5906da433142e47fb54ba3d16",
        637520,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI039-HH-1261-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI048-HH-1326-T1_ds.nii.gz",
        "56bbd7624a7468af5179a6c14e89df516bd5dfdbbfbcd8a754f4844746219378",
        615688,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI048-HH-1326-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI049-HH-1358-T1_ds.nii.gz",
        "3014985b1e61c03ff36ebe73c6d999662bc29b9bff96d3fedbebc03e0f789287",
        621356,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI049-HH-1358-T1_ds.nii.gz",
    ),
    _github(
        "mri/ixi_n10/nifti/IXI051-HH-1328-T1_ds.nii.gz",
        "43dd4680b51c2d21257fdcfe727bc33bdfaf720c2d09ba09c18a839fbe1215da",
        510343,
        "CBICA/CCL_NMF_Prediction",
        "ec021b5aafc9ddf7ed08f0bca1ce4b673e3bfc4f",
        "test/input/IXI/nifti/IXI051-HH-1328-T1_ds.nii.gz",
    ),
]


def _graph(path: str, sha256: str, size: int, origin: tuple[str, str, str], source: str, archive_sha256: str = "") -> File:
    """A file of a graph; origin is a repository, a commit, a folder; in an archive it has the name that it has here."""
    repository, commit, directory = origin
    url = f"https://raw.githubusercontent.com/{repository}/{commit}/{directory}{source}"
    return File(
        f"graphs/{path}", sha256, size, url, archive_sha256=archive_sha256, member=path.split("/")[-1] if archive_sha256 else ""
    )


_NETS = ("bavla/Nets", "7ec138b740b86f4455687eabfc51ba949b5346cf", "data/Pajek/")
_COMMUNITIES = ("qinyuenlp/CommunityDetection", "8bc22634570438922e3660f147bf9069ff6ffb6d", "data/")
_SOCIAL = ("messinguelethomas/SocialNetworkAnalysis", "4115f78ad0ce9a24fe223b55f7259641b4a71ea2", "data/")
_SUITESPARSE = ("DrTimothyAldenDavis/SuiteSparse", "038d6635096409538260f71986a8ab4a42e0514e", "")
_VISLA = ("ghbrown/visla", "b8d6fa09264dc144f5dac4c9844935f9f1d3da80", "matrices/")
_AUTO = ("NorthMa04/auto_versus_conventional", "9921dab995751aa63e29f991ba9f2f2ed0f2db47", "")

GRAPHS = [
    _graph(
        "Scotland/Scotland.paj",
        "f005f330aea7ef15d9662b2facf79b62d1dba9738302bc6a42537aeb02cefcaf",
        28816,
        _NETS,
        "esna/Scotland.zip",
        "6b87dabf89e4c755f57187d0dd15b1be10e645a5561100fe5053fd4216d998c0",
    ),
    _graph(
        "Cities/da6+.net",
        "064f05047b217f930125cc3e583df2e56ab95c7824bd96107284fdf6859ad9aa",
        7586,
        _NETS,
        "2mode/cities.zip",
        "1c0e4f0bc4b9d910c23eee54696c870834e55ba1ad7729a3ef8cd19f203df37b",
    ),
    _graph(
        "Cities/cities.clu",
        "398b20a0ca01bea437977e69f320e124cb7a5010b777b1d7faecb7dda816b1c5",
        419,
        _NETS,
        "2mode/cities.zip",
        "1c0e4f0bc4b9d910c23eee54696c870834e55ba1ad7729a3ef8cd19f203df37b",
    ),
    _graph(
        "WorldCities/WorldCities.net",
        "367cfe0748cb66c6297f17fbdda108ff7a6dd3238356873099c7e31abe393246",
        86833,
        _NETS,
        "2mode/WorldCities.zip",
        "2853208654be2136cf14339c8722efc2101380522362eb301094ef7996dfd9db",
    ),
    _graph(
        "WorldCities/WorldCities.clu",
        "ccfee14cb21aea9670c8ee727006c7b97cdf456d992738860681dbabf08026a0",
        1814,
        _NETS,
        "2mode/WorldCities.zip",
        "2853208654be2136cf14339c8722efc2101380522362eb301094ef7996dfd9db",
    ),
    _graph(
        "Journals/revije.paj",
        "ba665e0f8b5317b9499386e0cb9dee9602066129eceb9402bc9ba8bd77503de7",
        42589,
        _NETS,
        "2mode/revije.zip",
        "303220d5d1ab5628902b3c8a08394d2cd594b61660ae6eaed121437a96af9609",
    ),
    _graph(
        "DutchElite/DutchElite.paj",
        "744d4f87515f4f80ffc99931fc3f219c1c07ce3d4c33a6f7a63dace1bdabe166",
        370216,
        _NETS,
        "2mode/DutchElite.zip",
        "b6c55ed82b271d3b56849ef23141e0e8c853bb953281348cfe8a15f130e75ad5",
    ),
    _graph(
        "Strike/strike.paj",
        "332361043d68738d9d1240a03770a75af53b5f0e7182ded7a61e5b04d7eda082",
        3106,
        _NETS,
        "esna/strike.zip",
        "2deed7dc9a710810c90f23e44291cd975165e1a5b9b600a7ef32e1b7d8309f92",
    ),
    _graph(
        "Sawmill/Sawmill.net",
        "aad4eb3ce35eebff258979f8f4150b84be82a26be0e56f643386d47b69579f54",
        4293,
        _NETS,
        "esna/sawmill.zip",
        "c92473bb25677750801eb17c328eba7e174e839af589bf5cba77e2832077bc71",
    ),
    _graph(
        "Sawmill/Sawmill.kcore.clu",
        "8c0bf5653f88a6be88d4083af592e0d3acb3c421f8fb8eb4871aee50b82736c5",
        338,
        _NETS,
        "esna/sawmill.zip",
        "c92473bb25677750801eb17c328eba7e174e839af589bf5cba77e2832077bc71",
    ),
    _graph(
        "Korea/Korea.paj",
        "e4f97cdeb31fb0a9766be22f2edd64f31bc7e1207805a54f01abd45d9ae85ce6",
        11384,
        _NETS,
        "esna/Korea.zip",
        "b56a04a4ea30485929fb7da55004c67ff111e499055fd4b4d0280c6532971ebf",
    ),
    _graph(
        "Football/football.gml",
        "48bc58e19bf674cc9064e60fe7128f0b95a908e684fed575178f1388ac34e949",
        33379,
        _COMMUNITIES,
        "football.gml",
    ),
    _graph(
        "A99m/A99m.paj",
        "4a51e39c34fd0d8e3969e165171d976401db535e43f32def0dcc00ce52db4549",
        49589,
        _NETS,
        "gd/A99m.zip",
        "1aca6aa67ad2913d3cb9bf2895d16448ffc063963ec93a140ba64e19bd098656",
    ),
    _graph(
        "PolBlogs/polblogs.gml",
        "bd83e3dd2397a57d2252cc212524c21fee6708663136898d4ace523224bdc632",
        977839,
        _COMMUNITIES,
        "polblogs.gml",
    ),
    _graph(
        "SAMPSON/SAMPSON.DAT", "ee427d7e13ce8defa09a880662134e673d558404e13eb2c8a95006b5175568b1", 7371, _NETS, "ucinet/SAMPSON.DAT"
    ),
    _graph("WOLF/WOLF.DAT", "5f984724e2f5e9cc591bb55776561f68c70fd14acb152266a6f17fcd254d5d40", 2169, _NETS, "ucinet/WOLF.DAT"),
    _graph(
        "football35/football.net",
        "14c6b05304c9cab02aeb280ab4fc8a732a0b0ebd521d2d6c7ea65240d71898e0",
        2569,
        _NETS,
        "sport/football.net",
    ),
    _graph(
        "cage5/cage5.mtx",
        "4cd8072c262765e85907e6078ef777656ae73e5155167432c7d810b30ae657c6",
        5983,
        _SUITESPARSE,
        "ParU/Matrix/cage5.mtx",
    ),
    _graph("BKOFF/BKOFF.DAT", "b9c37e8cdf6800d7d85fe947c62960be6ab502d963cf1ae84ac1e2080b9aba40", 10011, _NETS, "ucinet/BKOFF.DAT"),
    _graph(
        "curtis54/curtis54.mat",
        "2fb91679c61586d57f8250f0c8c23ecb99ebe5ebe37420d356e818b2e678ba21",
        1423,
        _SUITESPARSE,
        "MATLAB_Tools/spqr_rank/SJget/mat/HB/curtis54.mat",
    ),
    _graph("will57/will57.mtx", "16b66782f7b40de64251d6e35e9d3327a48db9abe6949b52e2fbaf1f724297c4", 2186, _VISLA, "will57.mtx"),
    _graph(
        "PRISON/PRISON.DAT", "8d516f71a17874ba40ff91a91b4cf94c26c950c25c099b75589d786befb1e400", 9301, _NETS, "ucinet/PRISON.DAT"
    ),
    _graph(
        "CAG_mat72/CAG_mat72.txt", "abb28662d77ce93488f074f7ec92dc11150cd95135cd1fac3f4af9a997fa979b", 7456, _AUTO, "CAG_mat72.txt"
    ),
    _graph(
        "GlossGT/glossTG.paj", "e7b81d7fb28acc39e0370fbfd243a7b7e543e1307f4ab7a2093aeac78e2fd710", 4215, _NETS, "dic/TG/glossTG.paj"
    ),
    _graph(
        "WIRING/WIRING.DAT", "be46907300529702c77383561115caf2ee5c106d77cde32a83705522c1a252c7", 2974, _NETS, "ucinet/WIRING.DAT"
    ),
    _graph(
        "PADGETT/PADGETT.DAT", "fa835ccafd51bf763fd4b40559c079385680a94c0f36611b4b2bbd9caae60586", 1508, _NETS, "ucinet/PADGETT.DAT"
    ),
    _graph(
        "ZACHARY/Zachary.DAT", "4b24250430f5a0d6fd32f5172cd7c2765f95717566ed9b3595c996a2f4de3c45", 4849, _NETS, "ucinet/Zachary.DAT"
    ),
    _graph(
        "mexican_power/mexican_power.paj",
        "439c9fd33614d0ec64c56ab3336710afde2ddf32b45c90c85eecef815f0112eb",
        6290,
        _NETS,
        "esna/mexican.zip",
        "e615eb7186d93e1a347db61b561e0a071320b88dfb5ba5ded08724ac6ff2c59c",
    ),
    _graph(
        "dolphins/dolphins.net", "c2e3396db4d88e8ded4d9712b85ca2ac33989f1277665a8399fdd1da7c4d783b", 2937, _NETS, "bio/dolphins.net"
    ),
    _graph(
        "karate/karate_club.gml",
        "702fbe0bfa7d87bd5b90670a54889908b5235d70eec3b8779d9c4d0558bc5994",
        5009,
        _COMMUNITIES,
        "karate_club.gml",
    ),
    _graph(
        "lesmis/lesmis.gml", "900f818c57e4112264fa53afba00bac128c50184a064d4b834abccb1ea4cbc37", 17610, _COMMUNITIES, "lesmis.gml"
    ),
    _graph(
        "netscience/netscience.gml",
        "ede685c5746201f51cf0c00b3c5927b1d8803555956e75dc97f973e5ba995708",
        247464,
        _COMMUNITIES,
        "netscience.gml",
    ),
    _graph(
        "polbooks/polbooks.gml",
        "29e2439036fa4e13b478a9d4ceda78b5ab4d4d8252882a7f2b6036b028e34848",
        26314,
        _COMMUNITIES,
        "polbooks.gml",
    ),
    _graph(
        "adjnoun/adjnoun.gml", "932e14f8155e96732cfea098765f5dcd59a5eafbe5e05e8266e10d4c439f735a", 24461, _SOCIAL, "adjnoun.gml"
    ),
    _graph(
        "celegansneural/celegansneural.gml",
        "bd26151dbdf6cca2f947883b493f8867d5be7dad4b1a2c358954d32ad7083eba",
        144652,
        _SOCIAL,
        "celegansneural.gml",
    ),
]


def _text(path: str, sha256: str, size: int, origin: tuple[str, str, str], source: str) -> File:
    """A file of texts; origin is a repository, a commit, a folder; in an archive it has the name that it has here."""
    repository, commit, directory = origin
    url = f"https://raw.githubusercontent.com/{repository}/{commit}/{directory}{source}"
    return File(f"text/{path}", sha256, size, url, member=path.split("/")[-1] if source.endswith(".tar.gz") else "")


_HADAMARD = ("StefanoSicilia/Hadamard-Decomposition", "99bf275080a9ab8e44a75bbb96f1bb2b9508e10b", "datasets/")
_SOME_DATASETS = ("ntyaan/some-datasets", "ac28270cc96f5de53d67f22ae9547ff1a9e7c933", "")
_FUZZY_FS = ("achyudh/fuzzy-fs", "3c8fc8b5d4a1883dde8ead22fee0dfafa7b8c767", "data/")
_NMTFCOCLUST = ("Saeidhoseinipour/NMTFcoclust", "6c12fd903742acebd43a7b214ec95ff4a0e0e1ef", "Datasets/")
_PROBML = ("probml/probml-data", "f74e6f00ef1570f5b3843c49818d0bfa6b473069", "data/")
_BELIEF_NETWORK = ("lailaglez/belief-network-irs", "9094e4cde738bd93ed1747dc958b5acb0e0fa684", "")
_RI_TP = ("Hamza5/RI-TP", "b362e149af06f9ed6278d71d36752d66e33b2a9d", "cacm/")

TEXTS = [
    _text(
        "classic/classic.mat", "4ea89c5511bd84de015f5cf51962938bd3b6c4e8c256d49d14f9b9370c90bc63", 1293288, _HADAMARD, "classic.mat"
    ),
    _text(
        "reviews/reviews.mat", "ac52aacf94cde86aea026dbce726a645d1ae06a505e5a3c1211e83b1019a0ba1", 3871456, _HADAMARD, "reviews.mat"
    ),
    _text(
        "k1b/cluto_k1b_correct.txt",
        "447b515e819e3e685839b05f2e3f1fbbfd1fa5748fc5966d9db887ccef5bd129",
        28086,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/k1b/k1b_correct.txt",
    ),
    _text(
        "k1b/cluto_sparse_k1b.txt",
        "6532b56dcefe39614b1ac90558b32583932744944ca9756d32bfc92a0b8a27f6",
        2633796,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/k1b/sparse_k1b.txt",
    ),
    _text(
        "ohscal/ohscal.mat", "d4bc8a9fab44d7c64273329b0214463074ad2f069c803ff86ee6fe2ef586d291", 3429128, _HADAMARD, "ohscal.mat"
    ),
    _text("la1/la1.mat", "12c2884e474c276b0fa5f23f0010ca0abede97f03e89bae5227b827b186bf7aa", 2549488, _HADAMARD, "la1.mat"),
    _text("la2/la2.mat", "c33e080adf1b0ecf74d71cc4c972c68ecc0eaac7609888457552cd29ba33fd1d", 2406160, _HADAMARD, "la2.mat"),
    _text(
        "hitech/hitech.mat", "728eeb48e78700afb78dcf181de549e081600ef5b15dd0bfd3c695252ac97163", 1699768, _HADAMARD, "hitech.mat"
    ),
    _text("tr11/tr11.mat", "891936d002e441ebcfa743f2f59505dd0ff9308b75b67761a17b45f15cf24a79", 1400904, _HADAMARD, "tr11.mat"),
    _text("tr23/tr23.mat", "a466e9beb098e94d53bfe6127627125c0ec499fd82847aa5a678baf316eb9d7f", 964664, _HADAMARD, "tr23.mat"),
    _text("tr41/tr41.mat", "861374a788e1a0be548e6adc20d9077c72290b008a6ab528f30b3acd53627dc9", 2078536, _HADAMARD, "tr41.mat"),
    _text("tr45/tr45.mat", "973611453015d47faa0da1224a4a1eb1e3c2fa0bf80ba3c040ec6a93517ad2cc", 1195648, _HADAMARD, "tr45.mat"),
    _text(
        "tr12/cluto_sparse_tr12.txt",
        "29a12d7e8a2b1de127c733d5208d792cf5dc8536d9c86d96e1344eb5a0afe099",
        595082,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/tr12/sparse_tr12.txt",
    ),
    _text(
        "tr12/cluto_tr12_correct.txt",
        "c0305818f4be3bf971c69c68c0d33bdf6939d7a52c961831d0b153286e08b144",
        5016,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/tr12/tr12_correct.txt",
    ),
    _text(
        "tr31/cluto_sparse_tr31.txt",
        "ad66917b5022dbe7597d35525f9e719b05da5e5239aab7fbeec18d6ee9813bb7",
        1740676,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/tr31/sparse_tr31.txt",
    ),
    _text(
        "tr31/cluto_tr31_correct.txt",
        "e38da953dba4de568b6e6bb059212201011f00c437deb104ea390f57c8cdec08",
        12985,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/tr31/tr31_correct.txt",
    ),
    _text(
        "re0/cluto_re0_correct.txt",
        "ede3e80cc1710922effe460e5b80d246f8d632b88b62cd4aae8ccd76f421d2f0",
        39117,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/re0/re0_correct.txt",
    ),
    _text(
        "re0/cluto_sparse_re0.txt",
        "3c1d433211e98aec011184257e706e9d1991e498c1be8504c9d3235e6b28e049",
        520506,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/re0/sparse_re0.txt",
    ),
    _text(
        "wap/cluto_sparse_wap.txt",
        "a23d0b5ff493ffedec07ab0146b2fae5ea15d33fbe1f70dea8c594a8bc633b5a",
        1523960,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/wap/sparse_wap.txt",
    ),
    _text(
        "wap/cluto_wap_correct.txt",
        "dd239fd35727c3854a198b474f19ae9664176880337e174a15ef75a15ab2deca",
        62420,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/wap/wap_correct.txt",
    ),
    _text(
        "fbis/cluto_fbis_correct.txt",
        "a1594eb5501ed5aeb0901cd7b6f0177e10a08ff3a53f3c11d0fd8713113f57cf",
        83759,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/fbis/fbis_correct.txt",
    ),
    _text(
        "fbis/cluto_sparse_fbis.txt",
        "97c65320af7af47cd7051415cbd0c2619543f88f21c100cd6535267286dc6e22",
        2475232,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/fbis/sparse_fbis.txt",
    ),
    _text(
        "cranmed/cluto_cranmed_correct.txt",
        "af6e6cbc9d25d9e7b604f7cecb9421c15eaf0dad092d3642385ce463611fd7d8",
        9726,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/cranmed/cranmed_correct.txt",
    ),
    _text(
        "cranmed/cluto_sparse_cranmed.txt",
        "555cad650d5f88b503b1155ca5e11e195a83a022c52dbd0ef3af5dee58717f0e",
        1017598,
        _SOME_DATASETS,
        "datasets_cluto_20171213/CLUTO/cranmed/sparse_cranmed.txt",
    ),
    _text(
        "webkb/webkb-test-stemmed.txt",
        "2ecc8135835fa2151080488524eaeda757e254160a93d21eac951b13357a0df9",
        1301241,
        _FUZZY_FS,
        "WebKB/webkb-test-stemmed.txt",
    ),
    _text(
        "webkb/webkb-train-stemmed.txt",
        "bcfab4aaab816ce289409b0ad7926f8a3c21bc4cd78dbfec1a2f394717db1f0d",
        2550700,
        _FUZZY_FS,
        "WebKB/webkb-train-stemmed.txt",
    ),
    _text(
        "webkb_linqs/sparse_webkb.txt",
        "d0065afa8f312f09424f3caba6a6b53a670031648ed0c5ae35573bca3a577c06",
        506653,
        _SOME_DATASETS,
        "dataset_linqs_20171213/sparse_webkb.txt",
    ),
    _text(
        "webkb_linqs/webkb_correct.txt",
        "2604bae9be7402b03598914fb0213f58223e1c377c1ea74d2db6e34fefca0b4a",
        8775,
        _SOME_DATASETS,
        "dataset_linqs_20171213/webkb_correct.txt",
    ),
    _text(
        "20newsgroups/20Newsgroups.mat",
        "dc1418f7291a4c09a4ab3b6a7d31c129d6edad7643ac5ec6bdaf67180a000ae8",
        3715065,
        _NMTFCOCLUST,
        "20Newsgroups.mat",
    ),
    _text(
        "20news_w100/20news_w100.mat",
        "6667c5459e22eb544a854bff1443edaaea71735cf1af7b12cc5d986e74af7064",
        416176,
        _PROBML,
        "20news_w100.mat",
    ),
    _text(
        "reuters21578/Reuters21578.mat",
        "2e442026efc64cfbcd3a531b4bc99b21eed6c5463276dbfa69d096f91dd5c245",
        896756,
        _NMTFCOCLUST,
        "Reuters21578.mat",
    ),
    _text(
        "r8/r8-test-stemmed.txt",
        "bac15782889426df2fb8414a154330c7fafd9cc7e7bc3d3669f6fc78d069313e",
        798944,
        _FUZZY_FS,
        "R8/r8-test-stemmed.txt",
    ),
    _text(
        "r8/r8-train-stemmed.txt",
        "52d8f626d6b3d71c4ac859d84e9b5fd5469a3f4948ca25e46a4d0ddeedab52b6",
        2237351,
        _FUZZY_FS,
        "R8/r8-train-stemmed.txt",
    ),
    _text("tdt2/TDT2.mat", "a28844f8bf18076838ede0d7554c8c2476d6b6d1c7eb57558e7288e10d16fde9", 2657541, _NMTFCOCLUST, "TDT2.mat"),
    _text(
        "webace/WebACE.mat", "f7c7f4f891c90491fdbe52b5ff7f060cb0d67fb414f1c987da7eb117d15c7a41", 450003, _NMTFCOCLUST, "WebACE.mat"
    ),
    _text("cstr/cstr.mat", "8e0876ddef4cb6358f8b87e81888864668c0fed88226965cc0343244c2cf9c87", 77010, _NMTFCOCLUST, "cstr.mat"),
    _text(
        "classic3/classic3.mat",
        "94989d2c1c884945ae960f173eb2ed1cc078c5eded6786f24d2d717274d767d4",
        440589,
        _NMTFCOCLUST,
        "classic3.mat",
    ),
    _text(
        "med/MED.ALL",
        "fdcd99cf7fc6c45707c9b5bef7daac739f06c4063ebcad9b5cccf2f939fa4236",
        1114589,
        _BELIEF_NETWORK,
        "med/med.tar.gz",
    ),
    _text(
        "med/MED.REL", "aef5ac922c08d5711ffd525985e03cda4272694e35f646deab90177f329ff575", 7408, _BELIEF_NETWORK, "med/med.tar.gz"
    ),
    _text(
        "cran/cran.all.1400",
        "b234544b6ceccd131520df4a3cb6d42aee6576eb577933d047e722bbfe7b0b09",
        1644706,
        _BELIEF_NETWORK,
        "cran/cran.tar.gz",
    ),
    _text(
        "cisi/CISI.ALL",
        "df5af339fa4623ef33e315f39f3e13c050d17535c18360c727bf3c96ce60ba40",
        2228098,
        _BELIEF_NETWORK,
        "cisi/cisi.tar.gz",
    ),
    _text("cacm/cacm.all", "34bdd3eb27a92e5f8068a785b53ef40b9dc0b800dbafc5bac79a80dd999cdc17", 2187734, _RI_TP, "cacm.all"),
    _text("cacm/common_words", "764c71ff1764b7745dc0df87c97646b50c56c989284997ad5c5182f41366dec3", 2668, _RI_TP, "common_words"),
]

CHAINS = [
    _github(
        "words/corncob/corncob_lowercase.txt",
        "aa96a8f8a0f02fbdc6e185e78a0609672411c25fd85cd4a711447738a6c6912e",
        600805,
        "yapraksarma/Markov-Chain",
        "f160d5bb10a4935e77ed0ca34210b4b34f3fa89d",
        "corncob_lowercase.txt",
    ),
    _github(
        "genes/human_codon_pairs/Coleman_CPS.csv",
        "e2304c2465f6b5cb1b2399024ab7fc1108c6b411e3451dc297274d6c1f7b0932",
        128851,
        "lauringlab/CodonShuffle",
        "4c408e1a8617f2a52dcb0329bba9617e1be17313",
        "Coleman_CPS.csv",
    ),
]

ASSIGNMENTS = [
    _github(
        f"qaplib/{name}.dat",
        sha256,
        size,
        "mhahsler/qap",
        "85b2b645bb222e641e00a9a7c5d72660052516b2",
        f"inst/qaplib/{name}.dat",
    )
    for name, sha256, size in (
        ("chr12a", "fcfa6ecd04a8d54590677755d0a463f020a3bda1137f3bd62020a19bcedcbfb1", 1710),
        ("chr12b", "7e46fa75ca5d7607845cadd2b9f80635349fd7750e44ca59cbfda1cf8edf623a", 1709),
        ("chr12c", "3baebb29e783e752bc43d3a92045666e69d5775ad54468d4ef8d4ab1cb8f9fe6", 1709),
        ("chr15a", "76f11323c1a90b601f6cba1d0bc669bf282f0c1352a3c9ec485d5de2ed844078", 1357),
        ("chr18a", "dbe39078792488c9d1e09e44c3653be818dfee42d8aada23f74c010acb19d583", 1950),
        ("esc16a", "43d87cba944821dd094f4e49ad0b465077406df9dfe2ffcfc3528d573f43dfc9", 1028),
        ("had12", "f449f4e5af533a23ae5170c8781cdd92ddfec6fdf8f648115e2608349c078be7", 901),
        ("nug12", "15ad1047d3d39e2820466349dc75ce8cc560443e125c4f67ff06223d735f47b6", 713),
        ("nug15", "3b38058a5e721e059739ab5a3f66c81792d575a41a93673ecb88b108f976c149", 1130),
        ("nug20", "a82316ada09e9c8d7fe40591306cfe0a2505b44254f37da54f2916ea81f1ecf1", 2005),
        ("nug30", "7c8e1001b1fb13e93417193707f4975c968bd2ff2d27451b8c4fccbd76645c09", 4505),
        ("rou12", "3f3f465b80a8b684d146e3e2cf6f315bf70d102ef110e0fe2a42866c070987a2", 869),
        ("rou15", "7631c0017c53061e2e3587adaefe138ab11dfac2f70736ab9744c5c00037a549", 1355),
        ("scr12", "794f032e7ed99ce9c5f356c5fce9e409d463733c481648f28e90448e8986b6b7", 1017),
        ("scr15", "82c331582812c7615e03d2304205fe1b4a47fe8fba361d932fd4fcf8eb69d6ee", 1584),
        ("tai12a", "3a9fa8069e82f9fd7806c37175e9c568a66ffcf9798935bf1f7336df81938318", 895),
        ("tai15a", "374f8225097d01ab29bd933dfa41a2c1b8d753bcc5deb05cd3179faf97b9fb65", 1386),
        ("tai20a", "39eeebc193ffa134e7be20ca32d4ffacadcadda7f75268ef0dee142d27a1fb74", 2446),
    )
]

FILES = {file.path: file for file in (*FACES, *ORL_IMAGES, *MRI, *GRAPHS, *TEXTS, *CHAINS, *ASSIGNMENTS)}
