# The coil over 60 s from the tables of bench/scenes: gnuplot -e "folder='docs/figures'" bench/scenes.gp
set encoding utf8
set datafile separator comma
ink = "#30343b"
pale = "#dfe3e8"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.5 textcolor rgb ink
set grid xtics ytics linecolor rgb pale linewidth 0.8 linetype 1
set terminal svg enhanced size 980,440 dynamic background 'white' font 'Helvetica,Arial,sans-serif,13'
set output folder . "/coil.svg"

# One colour per scheme, in both panels; every block of a table begins with the scheme's name.
names = "reference exprb42 pexprb43 expmid2 verlet rk4 bdf1 midpoint"
colours = "#b9c0ca #d1495b #00798c #7b4fa6 #5b8c2a #d99a1c #2f5fb3 #9b6a4b"
position(name) = sum [i = 1:words(names)] (word(names, i) eq name ? i : 0)
colour(name) = word(colours, position(name))
dashes(name) = name eq "pexprb43" ? 2 : 1
width(name) = name eq "reference" ? 5 : 1.4
energy = folder . "/coil_energy.csv"
top = folder . "/coil_top.csv"
blocks_of(file) = system(sprintf("grep '^\"' %s | tr -d '\"'", file))
energies = blocks_of(energy)
tops = blocks_of(top)

set multiplot
set xlabel "t [s]" textcolor rgb ink
set xrange [0:60]
set xtics 10
set tmargin at screen 0.90
set bmargin at screen 0.13
set key textcolor rgb ink samplen 1.6 spacing 1.1

set lmargin at screen 0.085
set rmargin at screen 0.47
set title "|E(t) - E(0)| over the largest kinetic energy" textcolor rgb ink
set logscale y
set yrange [1e-10:100]
set format y "10^{%T}"
set key top right maxrows 3
plot for [i = 1:words(energies)] energy index i - 1 using 1:(abs($2)) every ::1 with lines \
     linewidth width(word(energies, i)) dashtype dashes(word(energies, i)) linecolor rgb colour(word(energies, i)) \
     title word(energies, i)

set lmargin at screen 0.555
set rmargin at screen 0.985
set title "height of the top [m]" textcolor rgb ink
unset logscale y
set format y "%g"
set yrange [*:4.6]
set key top right maxrows 3
plot for [i = 1:words(tops)] top index i - 1 using 1:2 every ::1 with lines \
     linewidth width(word(tops, i)) dashtype dashes(word(tops, i)) linecolor rgb colour(word(tops, i)) title word(tops, i)
unset multiplot
