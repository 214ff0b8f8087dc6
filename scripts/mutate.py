#!/usr/bin/env python3
"""Tests the tests: changes one operator, number or statement of a header at a time (a mutant), and runs up to three of
the header's tests with the changed header. A test that fails kills the mutant. Mutants that survive are printed: either
the tests have a gap there, or the change makes no difference, for which scripts/mutate_survivors.txt states the reason.
Headers are changed in copies, one per core, which test the mutants of a folder at a time; tests are compiled as by
scripts/check.sh. Exits with 1 if too few mutants are killed."""
import argparse, concurrent.futures, functools, glob, hashlib, json, os, queue, re, shlex, shutil, subprocess, sys
import tempfile, time
from pathlib import Path

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["rules", "nn", "loop", "combine", "data", "formats", "scaling"]
# Headers that no mutant changes. Precompiled, they save a test a third of its time.
PRECOMPILED = ["<doctest/doctest.h>", "<algorithm>", "<cmath>", "<functional>", "<string>", "<vector>",
               '"algoperf/backend/host.hpp"', '"algoperf/state/state_dict.hpp"']


@functools.lru_cache(None)
def read(path):
    return Path(ROOT, path).read_text(encoding="utf-8")


def hide(pattern, text):
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S | re.M)


def code_of(text):
    """The text with spaces instead of what is not mutated: comments, literals, types, constraints."""
    text = hide(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|' r"(?<!\w)'(?:\\.|[^'\\\n])'", text)
    text = hide(r"/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|\btemplate <|\boperator\W{1,3}\(", text)
    text = hide(r"^ +S (\w+ = [\d.]+(, )?)+;", text)  # constants of kernels, which are always given
    for words, stop in (("static_assert|concept|using", ";"), ("noexcept", ";{"), ("requires", "\n;")):
        for match in re.finditer(rf"\b(?:{words})\b", text):
            end, depth = match.start(), 0
            while end < len(text) and (depth > 0 or text[end] not in stop):
                depth += (text[end] in "({[") - (text[end] in ")}]")
                end += 1
            text = text[:match.start()] + hide(".+", text[match.start():end]) + text[end:]
    before = ""
    while text != before:  # arguments of templates, from the inside; a comparison has spaces on both sides
        before, text = text, hide(r"(?<=\w)<[\w:][^<>;{]*>", text)
    return text


SWAPS = {"+": "-", "*": "/", "<": "<=", ">": ">=", "==": "!=", "&&": "||", "+=": "-=", "*=": "/=", "true": "false",
         "std::min": "std::max"}
SWAPS.update({new: old for old, new in SWAPS.items()})


def other_number(match):
    _, digits, exponent, suffix = match.groups()
    value = float(digits) * 1.2 if not 0.83 < float(digits) < 1 else float(digits) / 1.2  # 0.9 would leave its range
    return (f"{value or 1.0:.6}{exponent or ''}" if "." in digits or exponent else str(int(digits) + 1)) + suffix


OPERATOR = r"(?<=\s)(\+=|-=|\*=|/=|<=|>=|==|!=|&&|\|\||[-+*/<>])(?=\s)"
CHANGES = [  # what is changed, and to what
    (OPERATOR, lambda m: SWAPS[m[1]]),
    (r"\b(true|false|std::min|std::max)\b(?!_)", lambda m: SWAPS[m[1]]),
    (r"\b((?:std|math)::sqrt)\b", lambda m: ""),
    (r"(?<![\w.'])((\d+\.?\d*|\.\d+)(e[+-]?\d+)?([fFuUlL]*))(?![\w.'])", other_number),
    (r"(!)(?=[\w(])", lambda m: ""),
    (r"^ +((?:[\w.:]|->|\[[^\];]*\]|\(\w*\))+ [-+*/]?= [^;{}]+;|(?!return\b)[\w.:]+\([^;{}]*\);) *$", lambda m: ";")]


def mutants_of(path):
    """The mutants of a header: each replaces `old` at a line and column by `new`."""
    text, code, found = read(path), code_of(read(path)), []
    for pattern, change in CHANGES:
        for match in re.finditer(pattern, code, re.M):
            first, last = match.span(1)
            near = text[max(0, first - 2):last + 2]
            if pattern != OPERATOR or near[1].isspace() and '"' not in near:  # not `Type<T>* name`, not "text" + text
                found.append((first, text[first:last], change(match)))
    mutants = []
    for offset, old, new in sorted(found):
        first, last = text.rfind("\n", 0, offset) + 1, text.find("\n", offset + len(old))
        before = " ".join(text[first:last].split())
        after = " ".join((text[first:offset] + new + text[offset + len(old):last]).split())
        line, column = text.count("\n", 0, offset) + 1, offset - first + 1
        mutants.append({"key": f"{path}:{line}:{column}\n  - {before}\n  + {after}", "path": path, "line": line,
                        "column": column, "old": old, "new": new, "before": before, "after": after})
    return mutants


@functools.lru_cache(None)
def includes(path):
    places = [os.path.normpath(os.path.join(folder, name)) for folder in (os.path.dirname(path), "include")
              for name in re.findall(r'^\s*#include ["<]([^">]+)[">]', read(path), re.M)]
    return [place for place in places if os.path.isfile(os.path.join(ROOT, place))]


@functools.lru_cache(None)
def closure(path):
    found, left = set(), [path]
    while left:
        if (path := left.pop()) not in found:
            found.add(path)
            left += includes(path)
    return found


def declared(header):
    """Patterns of what tests of a header mention: types and functions that it declares, and its messages."""
    public = re.sub(r"^namespace [\w:]*detail \{.*?^\}", "", read(header), flags=re.S | re.M)
    pattern = r"^(?:template <.*> )?(?:struct|class|concept) (\w+)|^[a-zA-Z][\w:<>,&\* ]*[ &*]([a-z]\w{3,})(?:\(| = \[\])"
    names = {rf"\b{name}\b" for pair in re.findall(pattern, public, re.M) for name in pair if name}
    return names | {re.escape(text) for text in re.findall(r'"([^"\\\n]{8,})"', re.sub("#include.*", "", read(header)))}


def tests_of(header, most):
    """The tests of a header, the most specific first: named after it, including it by name, using its names most."""
    tests = [os.path.relpath(path, ROOT) for path in glob.glob(ROOT + "/tests/*/**/*_test.cpp", recursive=True)]
    tests = [test for test in tests if header in closure(test) and not re.search(r"/(cuda|thrust|mpi)[^/]*$", test)]
    tests = [test for test in tests if test.split("/")[1] == header.split("/")[2]] or tests
    headers = {header}
    for _ in range(3):  # a header that no test mentions is tested through those that include it
        words = re.compile("|".join(sorted(set().union(*map(declared, headers)))) or "(?!)")
        uses = {test: sum((1 + (file == test)) * len(words.findall(read(file))) for file in closure(test)
                          if file.startswith("tests/")) for test in tests}
        if any(uses.values()):
            break
        headers = {path for test in tests for path in closure(test) if headers.intersection(includes(path))}
    named = "/" + os.path.basename(header)[:-4] + "_test.cpp"
    return sorted(tests, key=lambda test: (not test.endswith(named), header not in includes(test), -uses[test],
                                           len(closure(test)), test))[:most]


def build_common(build):
    """Builds what all tests link."""
    for steps in (["--preset", "check", "-B", build], ["--build", build, "--target", "algoperf_gemm", "test_main"]):
        subprocess.run(["cmake", *steps], stdout=subprocess.DEVNULL, check=True, cwd=ROOT)


class Runner:
    """Compiles and runs tests with a copy of the headers, of which one at a time is changed."""

    def __init__(self, build, folder):
        self.build, self.folder, self.commands = build, folder, {}
        shutil.copytree(ROOT + "/include", folder + "/include")
        for entry in json.loads(read(build + "/compile_commands.json")):
            if target := re.search(r"/(check_\w+)\.dir/", entry["command"]):
                self.commands[os.path.relpath(entry["file"], ROOT)] = (target[1], shlex.split(entry["command"]))

    def compile(self, test):
        """Compiles and links a test. Returns the compiler's messages if that failed."""
        target, words = self.commands[test]
        left_out = ("-c", "-o", "-include")
        words = [w for i, w in enumerate(words) if i == 0 or w not in left_out and words[i - 1] not in left_out]
        words = [w.replace(f"-I{ROOT}/include", f"-I{self.folder}/include") for w in words if not w.startswith("-W")]
        # algoperf::gemm is compiled from the unchanged headers, so only products may come from it.
        words += ["-w", "-D_GLIBCXX_ASSERTIONS", "-DALGOPERF_WITHOUT_COMPILED"]
        common = f"{self.folder}/{hashlib.sha1(' '.join(words).encode()).hexdigest()}.hpp"
        if not os.path.exists(common):
            Path(common).write_text("".join(f"#include {header}\n" for header in PRECOMPILED))
            subprocess.run([*words, "-x", "c++-header", common, "-o", common + ".gch"], check=True)
        text = {"capture_output": True, "text": True, "errors": "replace", "cwd": self.build}
        done = subprocess.run([*words, "-include", common, "-c", f"{ROOT}/{test}", "-o", common + ".o"], **text)
        if done.returncode == 0:
            listed = subprocess.run(["ninja", "-t", "commands", target], **text).stdout.strip().split("\n")[-1]
            link = [common + ".o" if w.endswith("_test.cpp.o") else w for w in shlex.split(listed)]
            link[link.index("-o") + 1] = self.folder + "/test"
            done = subprocess.run([w for w in link if w not in (":", "&&")], **text)
        return done.stderr if done.returncode != 0 else None

    def passes(self, limit):
        """Runs the compiled test, for `limit` seconds at most, with limited memory."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            run = f"ulimit -c 0 -v 8000000; TMPDIR={place} exec timeout -s KILL {limit} ../test --abort-after=1"
            return subprocess.run(["bash", "-c", run], capture_output=True, cwd=place).returncode == 0

    @functools.lru_cache(None)
    def time_of(self, test):
        """The time that a test takes without a mutant."""
        errors, start = self.compile(test), time.time()
        if errors is not None or not self.passes(600):
            sys.exit(f"mutate: {test} fails without a mutant\n{errors or ''}")
        return time.time() - start

    def outcome(self, mutant, tests):
        """Runs the tests until one fails."""
        copy, text = Path(self.folder, mutant["path"]), read(mutant["path"])
        offset = sum(map(len, text.splitlines(True)[:mutant["line"] - 1])) + mutant["column"] - 1
        for test in filter(self.commands.get, tests):
            limit = max(20, 5 * self.time_of(test))
            copy.write_text(text[:offset] + mutant["new"] + text[offset + len(mutant["old"]):], encoding="utf-8")
            errors = self.compile(test)
            copy.write_text(text, encoding="utf-8")
            if errors is not None and not re.search(r"tests/\S+ error: (static assert|non-constant cond)", errors):
                return "does not compile", test
            if errors is not None or not self.passes(limit):
                return "killed", test
        return "survived", ""


def report(folders, outcomes):
    """Prints the table and the survivors. Returns the mutation score: the share of killed mutants among those for which
    scripts/mutate_survivors.txt does not state why the change makes no difference (equivalent mutants)."""
    accepted = read("scripts/mutate_survivors.txt").splitlines()
    print(f"\n{'folder':10} mutants  killed  survived")
    for folder in [*folders, "all"]:
        listed = [m for name in folders if folder in (name, "all") for m in outcomes[name]]
        survivors = [m for m in listed if m["outcome"] == "survived"]
        print(f"{folder:10} {len(listed):7} {len(listed) - len(survivors):7} {len(survivors):9}")
    equivalent = 0
    for mutant in survivors:
        start = f"{mutant['path']} | {mutant['before']} | {mutant['after']} | "
        reason = next((line[len(start):] for line in accepted if line.startswith(start)), "")
        equivalent += reason != ""
        print(f"\n{mutant['key']}\n  reason: {reason or 'none is stated'}")
    killed, counted = len(listed) - len(survivors), len(listed) - equivalent
    print(f"\nmutation score: {killed} of {counted}, without {equivalent} equivalent mutants")
    return killed / max(1, counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--count", type=int, default=150, help="number of mutants, spread evenly over the folders (150)")
    add("--seed", type=int, default=1, help="seed of the random choice (1)")
    add("--only", choices=FOLDERS, help="mutate one folder only")
    add("--tests", type=int, default=3, help="number of tests that a mutant must survive (3)")
    add("--least", type=float, default=0.9, help="mutation score to reach (0.9)")
    add("--results", metavar="FILE", help="add outcomes to FILE, and run no mutant that is in it; so continue a run")
    add("--build", default=ROOT + "/build/check", help="build folder of preset check (build/check)")
    add("--list", action="store_true", help="print mutants and their tests, and run none")
    options = parser.parse_args()
    folders = [options.only] if options.only else FOLDERS
    file = open(options.results or os.devnull, "a+", encoding="utf-8", buffering=1)
    file.seek(0)
    results = {entry["key"]: entry for entry in map(json.loads, file)}
    outcomes = {folder: [] for folder in folders}
    build = os.path.abspath(options.build)
    if not options.list:
        build_common(build)

    def run(i, folder):
        """Chooses the mutants of a folder and runs those that are not in the results."""
        runner = None if options.list else runners.get()
        headers = glob.glob(f"{ROOT}/include/algoperf/{folder}/**/*.hpp", recursive=True)
        mutants = [m for path in sorted(headers) for m in mutants_of(os.path.relpath(path, ROOT))]
        mutants.sort(key=lambda m: hashlib.sha1(json.dumps([options.seed, m["path"], m["column"], m["before"],
                                                            m["after"]]).encode()).hexdigest())
        share = options.count // len(folders) + (i < options.count % len(folders))
        for mutant in mutants:
            if len(outcomes[folder]) == share:
                break
            known = results.get(mutant["key"])
            tests = tests_of(mutant["path"], options.tests)
            if not tests:  # those of the header need ranks or devices
                continue
            if options.list:
                print(mutant["key"] + "\n  tests:", *tests)
                known = {"outcome": ""}
            elif not known:
                start = time.time()
                outcome, test = runner.outcome(mutant, tests)
                known = {**mutant, "outcome": outcome, "test": test, "seconds": round(time.time() - start)}
                file.write(json.dumps(known) + "\n")
                print(f"{outcome}, {known['seconds']} s {test} {mutant['key']}\n", end="", flush=True)
            if known["outcome"] != "does not compile":
                outcomes[folder].append(known)
        if runner:
            runners.put(runner)

    jobs = 1 if options.list else min(os.cpu_count(), len(folders))
    with tempfile.TemporaryDirectory(prefix="mutate") as place, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runners = queue.Queue()
        for job in range(0 if options.list else jobs):
            runners.put(Runner(build, f"{place}/{job}"))
        for done in [pool.submit(run, i, folder) for i, folder in enumerate(folders)]:
            done.result()
    return 0 if options.list or report(folders, outcomes) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
