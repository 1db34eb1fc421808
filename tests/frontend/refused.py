"""One small function for each thing outside the language, by topic; the arguments of its call are in the comment."""

from __future__ import annotations

STATEMENTS = """
raise alone           def f(a):
                          raise
raise own class       def f(a):
                          raise Problem("no")
raise no class        def f(a):
                          raise a
raise two messages    def f(a):
                          if a[0] < 0:
                              raise ValueError("negative:", a[0])
finally               def f(a):
                          try:
                              a[0] = 1
                          finally:
                              return
exception as a value  def f(a):
                          try:
                              a[0] = 1
                          except IndexError as error:
                              raise ValueError(error)
no exception class    def f(a):
                          try:
                              a[0] = 1
                          except a:
                              a[1] = 1
written in parts      def f(a):
                          try:
                              a[np.array([0, 9])] = 1
                          except IndexError:
                              a[1] = 1
with                  def f(a):
                          with open("x") as file:
                              a[0] = 1
import                def f(a):
                          import math
                          a[0] = math.pi
from import           def f(a):
                          from math import pi
                          a[0] = pi
global                def f(a):
                          global counter
                          counter = 1
nonlocal              def f(a):
                          x = a + 1
                          def g():
                              nonlocal x
                              x = a * 2
                          g()
                          return x
del of an element     def f(a):
                          del a[0]
class                 def f(a):
                          class C:
                              pass
match                 def f(a):
                          match a[0]:
                              case x:
                                  a[0] = x
async                 def f(a):
                          async def g():
                              pass
for over dict         def f(a):
                          for k in {"one": 2}:
                              a[k] = 0
for over two kinds    def f(a):
                          for x in (1, (2, 3)):
                              a[0] = x
for over number       def f(a):
                          for k in len(a):
                              a[k] = 0
enumerate of three    def f(a):
                          for i, x in enumerate(a, 1, 2):
                              a[i] = x
too many of pairs     def f(a):
                          for i, x, y in enumerate(a):
                              a[i] = x
strict zip            def f(a):
                          for x, y in zip(a, a, strict=True):
                              x += y
two loop variables    def f(a):
                          for i, j in range(3):
                              a[i] = j
zero step             def f(a):
                          for i in range(0, 3, 0):
                              a[i] = 0
float bound           def f(a):
                          for i in range(len(a) / 2):
                              a[i] = 0
range keyword         def f(a):
                          for i in range(stop=3):
                              a[i] = 0
star in range         def f(a):
                          for i in range(*a.shape):
                              a[i] = 0
star in target        def f(a):
                          x, *y = a
unpack a number       def f(a):
                          x, y = a[0]
unpack too few        def f(a):
                          x, y = 1, 2, 3
matmul assignment     def f(a):
                          a @= a
"""

EXPRESSIONS = """
step of no size       def f(a):
                          a[::0] = 0
float in a slice      def f(a):
                          a[1.5:] = 0
slice of an axis      def f(a):
                          return a[0] + a[1:, 0]
list of text          def f(a):
                          x = ["one", "two"]
                          return len(x[int(a[0])])
dict                  def f(a):
                          x = {"one": 2}
                          return x["two"]
text of a dict        def f(a):
                          x = {"one": 2}
                          return x[1]
changed text dict     def f(a):
                          x = {"one": 2}
                          for i in range(3):
                              x["two"] = i
method of texts       def f(a):
                          x = {"one": 2}
                          x.pop("one")
kinds in a list       def f(a):
                          x = []
                          x.append([1, 2])
                          x.append((1, 2))
lists of lists        def f(a):
                          x = []
                          y = [[1], [2, 3]]
                          x.append(y)
                          y[0].append(1)
                          a[0] = len(x[0][0])
array in a list       def f(a):
                          x = []
                          y = np.zeros(3)
                          x.append(y)
                          y[0] = 1.0
                          return x
list in a list        def f(a):
                          x, y = [], [1]
                          x.append(y)
                          y.append(2)
                          return x
list of two types     def f(a):
                          x = [np.zeros(2)]
                          x.append(np.zeros(2, np.int64))
                          return x
found in lists        def f(a):
                          x = []
                          x.append(np.zeros(2))
                          return [1] in x
set                   def f(a):
                          x = {"one", 2}
nested comprehension  def f(a):
                          return np.array([i * j for i in range(3) for j in range(3)])
set comprehension     def f(a):
                          x = {a for k in range(3)}
dict comprehension    def f(a):
                          x = {k: "x" for k in range(3)}
star of tuples        def f(a):
                          x = (*a, 1)
generator             def f(a):
                          x = (k for k in range(3))
nested generator      def f(a):
                          return sum(j * k for j in range(3) for k in range(j))
lambda                def f(a):
                          g, h = lambda x: x + 1, 2
                          a[0] = g(1)
formatted string      def f(a):
                          x = f"{a[0]:.1f}"
order of complex      def f(a):
                          return a[0] < 2j
bytes                 def f(a):
                          return b"x"
matmul of a number    def f(a):
                          return a @ 2
text                  def f(a):
                          return "x" * a[0]
is                    def f(a):
                          return a[0] is a[1]
in a number           def f(a):
                          return 3 in len(a)
unknown name          def f(a):
                          return a[0] + missing
unknown attribute     def f(a):
                          return np.missing(a[0])
attribute of a number def f(a):
                          return a[0].strides
number is indexed     def f(a):
                          return a[0][0]
undefined variable    def f(a):
                          x = x + 1
                          return x
tuple and number      def f(a):
                          return (1, 2) and a[0]
if of arrays          def f(a):
                          return (a if a[0] > 0 else 1.0)[0]
tuple index           def f(a):
                          return (1, 2)[3]
long constant         def f(a):
                          return 2 ** 100
power too large       def f(a):
                          return 2 ** 100000 > a[0]
negative shift        def f(n):
                          return n << -1
"""

NUMBERS = """
array plus text       def f(a):
                          return a + "x"
array as condition    def f(a):
                          if a:
                              a[0] = 1
array stored          def f(a):
                          a[0] = a
two sizes             def f(a):
                          x = np.zeros(3)
                          x[:] = np.zeros(4)
bools subtracted      def f(t):
                          return t - t
expression stored     def f(a):
                          (a + 1)[0:2] = 0
float index           def f(a):
                          return a[1.5]
float variable index  def f(a):
                          return a[a[0]]
bool index            def f(a):
                          return a[a[0] > 0]
too many indices      def f(a):
                          return a[0, 1]
does not fit          def f(b):
                          return b[0] + 300
does not fit stored   def f(b):
                          b[0] = -200
does not fit u        def f(u):
                          u[0] = u[0] * -1
bool minus bool       def f(t):
                          return t[0] - t[1]
minus bool            def f(t):
                          return -t[0]
half                  def f(b):
                          return np.sqrt(b[0])
bits of floats        def f(a):
                          return a[0] & 1
invert a float        def f(a):
                          return ~a[0]
negative power        def f(k):
                          return k[0] ** -1
int64 and uint64      def f(k, w):
                          x = k[0]
                          while x > 0:
                              x = w[0]
                          return x
min of int64, uint64  def f(k, w):
                          return min(k[0], w[0])
two kinds             def f(a):
                          x = 1
                          while a[0] > 0:
                              x = (1, 2)
                          return x
array or number       def f(a):
                          x = 1
                          while a[0] > 0:
                              x = a
                          return x
number or tuple       def f(a):
                          x = (1, 2)
                          while a[0] > 0:
                              x = 1
                          return x
two lengths           def f(a):
                          x = (1, 2)
                          while a[0] > 0:
                              x = (1, 2, 3)
                          return x
None plus number      def f(a):
                          x = None
                          return x + a[0]
other axes            def f(a):
                          x = np.zeros(3)
                          while a[0] > 0:
                              x = np.zeros((3, 3))
                          return x
swapped, then written def f(a, b):
                          for t in range(3):
                              b[0] = a[0]
                              a, b = b, a
                          a[0] = 1
fields                def f(p):
                          return p["z"][0]
record copied         def f(p):
                          p[0] = p["x"][1]
record as number      def f(p):
                          return p[0] + 1
records returned      def f(p):
                          return p
"""

CALLS = """
print                 def f(a):
                          print(a)
sum of a matrix       def f(m):
                          return sum(m)
min of a matrix       def f(m):
                          return min(m)
sorted                def f(m):
                          return sorted(m)
enumerate             def f(a):
                          return enumerate(a)
zip                   def f(a):
                          return zip(a, a)
isinstance            def f(a):
                          return isinstance(a, np.zeros)
round digits          def f(a):
                          return round(1.0 * len(a), len(a))
no such axis          def f(m):
                          return np.sum(m, axis=2)
axis of the run       def f(m, n):
                          return np.sum(m, axis=n)
numpy where           def f(a):
                          return np.where(a > 0, 1)
keyword of numpy      def f(a):
                          return np.sum(a, where=a > 0)
array of text         def f(a):
                          return np.array(["x", "y"])
ragged array          def f(a):
                          return np.array([[1, 2], [3]])
method of arrays      def f(a):
                          a.tofile("x")
function of numpy     def f(a):
                          return np.fft.fft(a)
transpose             def f(m):
                          return m.transpose(0, 0)
out is no array       def f(a):
                          return np.sqrt(a, out=1)
unknown dtype         def f(a):
                          x = np.zeros(3, np.longdouble)
                          return x[0]
half type             def f(a):
                          return np.float16(a[0])
order                 def f(a):
                          x = np.zeros((2, 2), order="F")
                          return x[0, 0]
negative size         def f(a):
                          x = np.zeros(-1)
                          return x[0]
float size            def f(a):
                          x = np.zeros(len(a) / 2)
                          return x[0]
slice of a range      def f(a):
                          r = range(3)
                          return r[1:]
star argument         def f(a):
                          return max(*a)
keywords              def f(a):
                          return max(**{})
wrong count           def f(a):
                          return math.sqrt(a[0], 2)
wrong keyword         def f(a):
                          return abs(x=a[0])
not in math           def f(a):
                          return math.remainder(3.0, 2.0)
a number is called    def f(a):
                          x = a[0]
                          return x(1)
list from outside     def f(a):
                          return names[0]
mask and index        def f(m):
                          return m[m > 0, 1]
list method           def f(a):
                          return names.append(1)
helper count          def f(a):
                          def g(x):
                              return x
                          return g(1, 2)
helper missing        def f(a):
                          def g(x, y):
                              return x
                          return g(1)
helper keyword        def f(a):
                          def g(x):
                              return x
                          return g(1, x=2)
helper star           def f(a):
                          def g(**x):
                              return 1
                          return g(x=1)
helper gives None     def f(a):
                          def g(x):
                              x = 2
                          return 1 + g(a[0])
helper gives arrays   def f(a):
                          def g(x):
                              if x > 0:
                                  return a
                              return a[1:]
                          return g(a[0])[0]
recursion             def f(a):
                          def g(x):
                              w = np.zeros(2)
                              if x > 0:
                                  w[0] = g(x - 1)
                              return w[0]
                          return g(3)
endless recursion     def f(a):
                          def g(x):
                              return 1 + g(x - 1)
                          return g(3)
recursion, arrays     def f(a):
                          def g(x, n):
                              if n > 0:
                                  g(np.zeros(n), n - 1)
                          return g(a, 3)
"""

RETURNS = """
type in a tuple       def f(a):
                          return 1, (a, int)
a view of records     def f(p):
                          return p["x"][1:]
a type                def f(a):
                          return np.float64
a function            def f(a):
                          return math
more forms than 16    def f(a, n):
                          if n == 0:
                              return a, n
                          if n == 1:
                              return a, n, n
                          if n == 2:
                              return a, n, n, n
                          if n == 3:
                              return a, n, n, n, n
                          if n == 4:
                              return a, n, n, n, n, n
                          if n == 5:
                              return a, n, n, n, n, n, n
                          if n == 6:
                              return a, n, n, n, n, n, n, n
                          if n == 7:
                              return a, n, n, n, n, n, n, n, n
                          if n == 8:
                              return a, n, n, n, n, n, n, n, n, n
                          if n == 9:
                              return a, n, n, n, n, n, n, n, n, n, n
                          if n == 10:
                              return a, n, n, n, n, n, n, n, n, n, n, n
                          if n == 11:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n
                          if n == 12:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n, n
                          if n == 13:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n, n, n
                          if n == 14:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n
                          if n == 15:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n
                          if n == 16:
                              return a, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n
"""
