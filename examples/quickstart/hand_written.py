"""Problems and answers written by hand: competition-style maths, multiple choice, questions with short answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    prompt: str
    gold: object
    right: tuple[str, ...]  # complete responses
    wrong: tuple[str, ...]


def boxed(reasoning: str, *answers: str) -> tuple[str, ...]:
    return tuple(f"{reasoning} Therefore the answer is $\\boxed{{{a}}}$." for a in answers)


MATH = (
    Problem(
        "What is the probability that two fair dice show the same number?",
        r"\frac{1}{6}",
        boxed("Whatever the first die shows, one of the six faces of the second one matches it.", r"\frac{1}{6}", r"\dfrac16", "1/6", r"\tfrac{6}{36}"),
        boxed("There are 36 outcomes, and I count 12 doubles.", r"\frac{1}{3}")
        + boxed("Each pair has probability 1/36, and there is one double to hit.", r"\frac{1}{36}")
        + ("Rounding 6/36 we get \\boxed{0.16}.",),
    ),
    Problem(
        "Solve $x^2 - 5x + 6 = 0$. Give all solutions.",
        r"\{2, 3\}",
        boxed("The polynomial factors as $(x-2)(x-3)$.", r"\{2,3\}", r"\{3, 2\}", "x = 2 \\text{ or } x = 3")
        + ("By the quadratic formula $x = \\frac{5 \\pm 1}{2}$, so $\\boxed{2}$ and $\\boxed{3}$ are the solutions.",),
        boxed("The polynomial factors as $(x+2)(x+3)$.", r"\{-2,-3\}")
        + boxed("One root is easy to see: $4 - 10 + 6 = 0$.", "2")
        + boxed("The product of the roots is 6 and I take 1 and 6.", r"\{1, 6\}"),
    ),
    Problem(
        "For which real $x$ is $\\sqrt{4 - x} + \\sqrt{x + 1}$ defined?",
        "[-1, 4]",
        boxed("We need $x \\le 4$ and $x \\ge -1$.", "[-1,4]", r"-1 \le x \le 4", r"x \in [-1, 4]"),
        boxed("We need $x < 4$ and $x > -1$.", "(-1,4)") + boxed("We need $x \\le 4$.", r"(-\infty, 4]") + boxed("Both roots ask for $x \\ge -1$.", r"[-1, \infty)"),
    ),
    Problem(
        "Simplify $\\sqrt{50} + \\sqrt{18}$.",
        r"8\sqrt{2}",
        boxed("$\\sqrt{50} = 5\\sqrt2$ and $\\sqrt{18} = 3\\sqrt2$.", r"8\sqrt{2}", r"8\sqrt2", r"\sqrt{128}"),
        boxed("The sum under the root is 68.", r"\sqrt{68}") + boxed("$\\sqrt{50} = 5\\sqrt2$ and $\\sqrt{18} = 9\\sqrt2$.", r"14\sqrt{2}") + boxed("Numerically this is about", "11.4"),
    ),
    Problem(
        "What is the derivative of $f(x) = x^3 \\ln x$ for $x > 0$?",
        r"3x^2\ln x + x^2",
        boxed("The product rule gives two terms.", r"3x^2 \ln x + x^2", r"x^2(3\ln x + 1)", r"x^2 + 3x^2\ln(x)"),
        boxed("The derivative of the logarithm is $1/x$.", r"3x^2 \cdot \frac{1}{x}") + boxed("The product rule gives two terms.", r"3x^2 \ln x + x^3"),
    ),
    Problem(
        "How many positive divisors does $360$ have?",
        "24",
        boxed("$360 = 2^3 \\cdot 3^2 \\cdot 5$, so there are $4 \\cdot 3 \\cdot 2$ divisors.", "24", "24.0", r"4 \cdot 3 \cdot 2"),
        boxed("$360 = 2^3 \\cdot 3^2 \\cdot 5$, so there are $3 + 2 + 1$ divisors.", "6") + boxed("$360 = 2^2 \\cdot 3^2 \\cdot 10$, so there are $3 \\cdot 3 \\cdot 2$ divisors.", "18"),
    ),
    Problem(
        "Compute $\\begin{pmatrix} 1 & 2 \\\\ 0 & 1 \\end{pmatrix}^3$.",
        r"\begin{pmatrix} 1 & 6 \\ 0 & 1 \end{pmatrix}",
        boxed("Each factor adds 2 to the upper right entry.", r"\begin{pmatrix}1&6\\0&1\end{pmatrix}", r"\begin{bmatrix} 1 & 6 \\ 0 & 1 \end{bmatrix}"),
        boxed("Each factor doubles the upper right entry.", r"\begin{pmatrix}1&8\\0&1\end{pmatrix}") + boxed("The transposed pattern is", r"\begin{pmatrix}1&0\\6&1\end{pmatrix}"),
    ),
    Problem(
        "A square has a diagonal of 10 cm. What is its area?",
        r"50\text{ cm}^2",
        boxed("The area is half the square of the diagonal.", r"50\text{ cm}^2", r"50\,\mathrm{cm}^2", "50"),
        boxed("The area is the square of the diagonal.", r"100\text{ cm}^2") + boxed("The side is $5$, so the area is 25.", r"25\text{ cm}^2"),
    ),
    Problem(
        "Write $(2 + i)(3 - 2i)$ in the form $a + bi$.",
        "8 - i",
        boxed("$6 - 4i + 3i - 2i^2 = 6 - i + 2$.", "8-i", "8 - 1i", "-i + 8"),
        boxed("$6 - 4i + 3i - 2i^2 = 6 - i - 2$.", "4-i") + boxed("Multiply part by part.", "6-2i"),
    ),
    Problem(
        "What is the remainder of $7^{100}$ divided by $5$?",
        "1",
        boxed("$7 \\equiv 2$ and $2^4 \\equiv 1 \\pmod 5$, and 100 is a multiple of 4.", "1", r"1 \pmod 5")
        + ("<think>The powers of 2 modulo 5 go 2, 4, 3, 1. At first I wanted \\boxed{4}, but 100 is divisible by 4.</think>\nThe remainder is \\boxed{1}.",),
        boxed("$7 \\equiv 2$ and the last power is $2^2$.", "4") + boxed("By Fermat $7^5 \\equiv 7$, so $7^{100} \\equiv 7^{20} \\equiv 2$.", "2"),
    ),
)

CHOICE = (
    Problem(
        "Which gas do plants take in for photosynthesis?\nA) oxygen\nB) nitrogen\nC) carbon dioxide\nD) helium",
        "C",
        ("Plants build sugar from water and carbon dioxide.\nAnswer: C", "The answer is (C).", "**C) carbon dioxide**"),
        ("Plants breathe like we do, so it is oxygen.\nAnswer: A", "Most of the air is nitrogen. The answer is (B)."),
    ),
    Problem(
        "Which of these is a prime number?\nA) 51\nB) 57\nC) 61\nD) 91",
        "C",
        ("51 = 3 * 17, 57 = 3 * 19 and 91 = 7 * 13.\nThe correct option is C.", "Answer: C", "Only 61 has no divisor up to 7, so the answer is **C**."),
        ("91 is not divisible by 2, 3 or 5.\nAnswer: D", "Both B and C could be prime; I cannot decide."),
    ),
    Problem(
        "Light from the Sun reaches the Earth after about\nA) 8 seconds\nB) 8 minutes\nC) 8 hours\nD) 8 days",
        "B",
        ("150 million km at 300,000 km/s take 500 s, about 8 minutes. Answer: B", "The answer is B."),
        ("Light is very fast, so it is A.\nAnswer: A", "The answer is (C)."),
    ),
    Problem(
        "Which planet has the most mass?\nA) Earth\nB) Jupiter\nC) Saturn\nD) Neptune",
        "B",
        ("Jupiter has more than twice the mass of all other planets together. Answer: B", "(B)", "The answer is B."),
        ("Saturn has the largest rings.\nAnswer: C", "Let me think about the density of each planet first. Neptune"),
    ),
    Problem(
        "What does a thermometer measure?\nA) pressure\nB) humidity\nC) wind speed\nD) temperature",
        "D",
        ("Answer: D", "The option that fits is D) temperature. The answer is D."),
        ("Answer: A", "A barometer measures pressure, so the answer is A."),
    ),
    Problem(
        "Water boils at a lower temperature on a mountain because\nA) it is colder there\nB) the air pressure is lower\nC) the Sun is nearer\nD) the air is drier",
        "B",
        ("The boiling point falls with the pressure. The answer is (B).", "Answer: B"),
        ("It is colder on mountains. Answer: A", "Answer: D"),
    ),
)

QA = (
    Problem("Who wrote the play 'Faust'?", ["Johann Wolfgang von Goethe", "Goethe"], ("Johann Wolfgang von Goethe", "Goethe"), ("Friedrich Schiller", "Thomas Mann", "Faust")),
    Problem("What is the capital of Australia?", ["Canberra"], ("Canberra", "canberra."), ("Sydney", "Melbourne", "Canberra or Sydney")),
    Problem("Which river flows through Paris?", ["the Seine", "Seine"], ("The Seine", "Seine"), ("Rhône", "the river Loire")),
    Problem("In which year did the Berlin Wall fall?", ["1989"], ("1989", "1989."), ("1990", "9 November")),
    Problem("What is the lowest temperature ever measured at Vostok station, in whole degrees Celsius?", ["-89"], ("-89",), ("89", "-98")),
    Problem("富士山在哪个国家？", ["日本", "Japan"], ("日本", "Japan"), ("中国", "韩国")),
    Problem("Which metal is liquid at room temperature?", ["mercury", "quicksilver"], ("Mercury", "quicksilver"), ("gallium", "lead")),
    Problem("Who composed 'The Four Seasons'?", ["Antonio Vivaldi", "Vivaldi"], ("Antonio Vivaldi", "vivaldi"), ("Johann Sebastian Bach", "Vivaldi and Corelli")),
)

SUMMARIES = (
    Problem(
        "In one sentence: why is the sky blue?",
        "Air scatters short blue wavelengths of sunlight much more than long red ones.",
        ("Air molecules scatter short blue wavelengths of sunlight more than long red ones.", "Because air scatters blue light of short wavelengths much more than red light."),
        ("Because it reflects the colour of the sea.", "The sky is blue on sunny days."),
    ),
    Problem(
        "In one sentence: what does a catalyst do?",
        "A catalyst speeds up a reaction without being used up itself.",
        ("A catalyst speeds up a chemical reaction without being used up.", "It speeds up a reaction and is not used up itself."),
        ("It is a part of a car.", "A catalyst heats the reaction until it is finished."),
    ),
    Problem(
        "In one sentence: why do we have seasons?",
        "The axis of the Earth is tilted, so each hemisphere gets more sunlight for half of the year.",
        ("The Earth's axis is tilted, so each hemisphere gets more sunlight for half of the year.",),
        ("The Earth is nearer to the Sun in summer.", "Because the weather changes."),
    ),
    Problem(
        "In one sentence: what is a prime number?",
        "A natural number greater than 1 that has no divisors except 1 and itself.",
        ("A natural number greater than 1 with no divisors except 1 and itself.", "A natural number above 1 that has only 1 and itself as divisors."),
        ("An odd number.", "A number that cannot be divided."),
    ),
)
