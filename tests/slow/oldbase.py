# SPDX-License-Identifier: Apache-2.0
"""snap/snapcraft.yaml built as for a base like core20: OpenSSL 1.1.1, an old jansson, and a libcurl too old to use.

snapcraft itself is not here. Debian 11 stands for its build environment, with the packages that the parts name and no
others; the parts' own scripts are run in it, with the variables that they use. All of it stays in build/bullseye, and
is made anew when what it was made from has changed.
"""

import fnmatch
import hashlib
import shutil
import subprocess

import yaml

from support import BUILD, ROOT

HERE = BUILD / "bullseye"
BASE = HERE / "root"
MAKE = ROOT / "tests" / "slow" / "bullseye.sh"
FOR_TESTS = ("ca-certificates", "libcriterion-dev", "openssl", "python3")

# Where the source of a part comes from, in place of a download.
CURL = "/usr/src/curl"

# Device files and processes, the folders of tests, the checkout and what lies beside it, all where they are outside.
ENTER = """
base=$1 checkout=$2 beside=$3
shift 3
for at in /dev /proc /tmp "$checkout" "$beside"; do
	[ -d "$at" ] || continue
	mkdir -p "$base$at"
	mount --rbind "$at" "$base$at"
done
mkdir -p "$base/parts/imgcheck"
ln -sfn "$beside" "$base/parts/imgcheck/shared"
exec chroot "$base" "$@"
"""


def inside(*command):
    """The command line that runs a command in the base."""
    beside = (ROOT.parent / "shared").resolve()
    return ["unshare", "--mount", "sh", "-euc", ENTER, "sh", str(BASE), str(ROOT), str(beside), *map(str, command)]


def run(*command, **options):
    """Runs a command in the base, to its end: what it printed."""
    done = subprocess.run(inside(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=900, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{command[0]} ended with {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def _unless(name, key, make):
    """Calls make, unless it was done before for the same key."""
    stamp, key = HERE / f"{name}.stamp", hashlib.sha256(repr(key).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != key:
        stamp.unlink(missing_ok=True)
        make()
        stamp.write_text(key, encoding="utf-8")
    return key


class Snap:
    """The parts of snapcraft.yaml, and what they became below `/parts`, `/stage` and `/prime` of the base."""

    def __init__(self):
        self.project = yaml.safe_load((ROOT / "snap" / "snapcraft.yaml").read_text(encoding="utf-8"))
        self.parts = self.project["parts"]
        self.prime = BASE / "prime"
        HERE.mkdir(parents=True, exist_ok=True)
        base = self._make_base()
        _unless("libcurl", (base, self.parts["libcurl"]), self._build_libcurl)
        self._build_imgcheck()
        self._make_prime()

    def _packages(self, kind):
        return sorted({name for part in self.parts.values() for name in part.get(kind, ())})

    def _make_base(self):
        packages = [*self._packages("build-packages"), *self._packages("stage-packages"), *FOR_TESTS]

        def make():
            shutil.rmtree(BASE, ignore_errors=True)
            print(f"making {BASE}, some minutes", flush=True)
            subprocess.run([MAKE, BASE, *packages], check=True, timeout=900)
        return _unless("root", (packages, MAKE.read_text(encoding="utf-8")), make)

    def _override_build(self, name):
        """Runs the script of a part in the folder that its source was copied to."""
        variables = {"CRAFT_PART_BUILD": f"/parts/{name}/build", "CRAFT_PART_INSTALL": f"/parts/{name}/install",
                     "CRAFT_STAGE": "/stage", "CRAFT_PARALLEL_BUILD_COUNT": "2"}
        install = BASE / "parts" / name / "install"
        shutil.rmtree(install, ignore_errors=True)
        install.mkdir(parents=True)
        run("env", "--chdir", variables["CRAFT_PART_BUILD"], *(f"{key}={value}" for key, value in variables.items()),
            "sh", "-euxc", self.parts[name]["override-build"])
        return install

    def _build_libcurl(self):
        print("building libcurl, some minutes", flush=True)
        build = BASE / "parts" / "libcurl" / "build"
        shutil.rmtree(build, ignore_errors=True)
        shutil.copytree(BASE / CURL[1:], build, symlinks=True)
        install = self._override_build("libcurl")
        shutil.rmtree(BASE / "stage", ignore_errors=True)
        shutil.copytree(install, BASE / "stage", symlinks=True)

    def _build_imgcheck(self):
        """The sources keep their times, so that only what changed is built again."""
        build = BASE / "parts" / "imgcheck" / "build"
        build.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        kept = {name.decode() for name in listed.split(b"\0") if name and (ROOT / name.decode()).is_file()}
        for path in build.rglob("*"):
            name = path.relative_to(build)
            if name.parts[0] not in ("build", "root") and not path.is_dir() and str(name) not in kept:
                path.unlink()
        for name in kept:
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, build / name, follow_symlinks=False)
        self._override_build("imgcheck")

    def _make_prime(self):
        """What is packed: the files of the parts, as each part's `prime` chooses, and of the packages that it stages."""
        shutil.rmtree(self.prime, ignore_errors=True)
        for name, part in self.parts.items():
            if part["plugin"] == "dump":
                shutil.copytree(ROOT / part["source"], self.prime, symlinks=True, dirs_exist_ok=True)
                continue
            install = BASE / "parts" / name / "install"
            listed = run("dpkg", "-L", *part["stage-packages"]).split()
            found = {path[1:]: BASE / path[1:] for path in listed if ".so." in path}
            found |= {str(path.relative_to(install)): path for path in install.rglob("*")}
            for place, path in found.items():
                if path.is_symlink() or path.is_file():
                    self._prime(place, path, part.get("prime", ["*"]))
        self._describe()

    def _prime(self, place, path, patterns):
        if any(fnmatch.fnmatch(place, pattern) for pattern in patterns):
            (self.prime / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, self.prime / place, follow_symlinks=False)

    def _describe(self):
        """meta/snap.yaml, with the search path for libraries that snapcraft gives every snap."""
        folders = sorted({path.parent.relative_to(self.prime).as_posix() for path in self.prime.glob("usr/lib/**/*.so.*")})
        libraries = ":".join(f"$SNAP/{folder}" for folder in folders)
        described = {key: self.project[key] for key in ("name", "version", "summary", "description", "confinement", "grade", "apps", "hooks")}
        (self.prime / "meta" / "snap.yaml").write_text(
            yaml.safe_dump(described | {"base": "core20", "environment": {"LD_LIBRARY_PATH": libraries}}, sort_keys=False), encoding="utf-8")


def library_path(place):
    """The same search path for the snap where it is mounted."""
    text = yaml.safe_load((BASE / "prime" / "meta" / "snap.yaml").read_text(encoding="utf-8"))["environment"]["LD_LIBRARY_PATH"]
    return text.replace("$SNAP", str(place))


def unit_tests():
    """Builds the unit tests beside the part's program, with the same flags, and runs them: what they printed."""
    flags = ("CPPFLAGS=-I/stage/usr/include", "LDFLAGS=-L/stage/usr/lib -Wl,-rpath-link,/stage/usr/lib")
    build = ("env", "--chdir", "/parts/imgcheck/build", "LD_LIBRARY_PATH=/stage/usr/lib")
    programs = ["faultserver", *(path.stem for path in sorted((ROOT / "tests" / "unit").glob("test_*.c")))]
    run(*build, "make", "-j2", *(f"build/release/tests/{name}" for name in programs), *flags)
    done = subprocess.run(inside(*build, "tests/run", "unit", "release"), capture_output=True, text=True, errors="replace", timeout=900,
                          check=False)
    return done.stdout
