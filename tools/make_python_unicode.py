"""Writes src/base/pystring_tables.inc: how Python's str classifies and lower-cases each code point.

Run with CPython 3.11 (Unicode 14.0), the version whose verdicts the parity scorers reproduce:
    python3.11 tools/make_python_unicode.py > src/base/pystring_tables.inc
"""

import unicodedata

CODE_POINTS = range(0x110000)
WIDTH = 100


def ranges(test):
    found = []
    for point in CODE_POINTS:
        if not test(chr(point)):
            continue
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def ends_in_final_sigma(text):
    return text.lower()[-1] == "\u03c2"


def is_cased(char):
    return ends_in_final_sigma(char + "\u03a3")


def is_case_ignorable(char):
    return not is_cased(char) and ends_in_final_sigma("A" + char + "\u03a3")


def lower_runs():
    """[first, last, stride, delta]: every stride-th code point of first..last is lower-cased by adding delta."""
    runs = []
    for point in CODE_POINTS:
        lower = chr(point).lower()
        if lower == chr(point):
            continue
        delta = ord(lower[0]) - point
        if len(lower) > 1:
            assert point == 0x130, hex(point)  # the only expansion; pystring.cc appends U+0307
        if runs and runs[-1][3] == delta:
            first, last, stride, _ = runs[-1]
            if first == last and point - last in (1, 2):
                runs[-1] = [first, point, point - last, delta]
                continue
            if first != last and point - last == stride:
                runs[-1][1] = point
                continue
        runs.append([point, point, 1, delta])
    return runs


def write(declaration, rows):
    print(f"inline constexpr {declaration}[] = {{")
    line = "   "
    for row in rows:
        cell = " {" + ", ".join(hex(n) if i < 2 else str(n) for i, n in enumerate(row)) + "},"
        if len(line) + len(cell) > WIDTH:
            print(line)
            line = "   "
        line += cell
    print(line + "\n};\n")


print("// Written by tools/make_python_unicode.py with Unicode " + unicodedata.unidata_version + "; do not edit.")
write("CodePointRange kAlnum", ranges(str.isalnum))
write("CodePointRange kDigit", ranges(str.isdigit))
write("CodePointRange kCased", ranges(is_cased))
write("CodePointRange kCaseIgnorable", ranges(is_case_ignorable))
write("LowerRun kLower", lower_runs())
