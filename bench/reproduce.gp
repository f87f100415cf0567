# Figures 1-4 of the 2022 paper from the tables of reproduce_fput: gnuplot -e "folder='docs/figures'" bench/reproduce.gp
set datafile separator comma
set encoding utf8
ink = "#30343b"
pale = "#dfe3e8"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.5 textcolor rgb ink
set grid xtics ytics linecolor rgb pale linewidth 0.8 linetype 1
set key textcolor rgb ink samplen 1.6 spacing 1.15

# One colour and one mark per scheme, the same in every figure. Blocks of fput_convergence.csv are in this order.
exprb2 = 0; pexprb43 = 1; exprb42 = 2; expmid4 = 3; epirk4s3 = 4; exprb53 = 5; rk4 = 6
names = "exprb2 pexprb43 exprb42 expmid4 epirk4s3 exprb53 rk4"
colours = "#8a94a3 #00798c #d1495b #7b4fa6 #5b8c2a #2f5fb3 #d99a1c"
marks = "4 6 8 10 12 14 5"
name(s) = word(names, s + 1)
colour(s) = word(colours, s + 1)
mark(s) = int(word(marks, s + 1))

table = folder . "/fput_convergence.csv"
size_two = "set terminal svg enhanced size 900,430 dynamic background 'white' font 'Helvetica,Arial,sans-serif,13'"
size_four = "set terminal svg enhanced size 900,620 dynamic background 'white' font 'Helvetica,Arial,sans-serif,13'"
left_panel = "set lmargin at screen 0.095; set rmargin at screen 0.49"
right_panel = "set lmargin at screen 0.585; set rmargin at screen 0.985"

# ---- Figure 1: error against step
@size_two
set output folder . "/fput_figure_1.svg"
set multiplot
set tmargin at screen 0.90
set bmargin at screen 0.135
set logscale xy
set format y "10^{%T}"
set ylabel "error at T = 100, maximum norm" textcolor rgb ink offset 0.8,0
set yrange [1e-12:1]
set key bottom right
@left_panel
set title "exponential schemes" textcolor rgb ink
set xlabel "step h" textcolor rgb ink
set xrange [0.001:0.09] # room for the key
set xtics ("0.00125" 0.00125, "0.0025" 0.0025, "0.005" 0.005, "0.01" 0.01, "0.02" 0.02)
in(x) = x > 0.00124 && x < 0.0202 ? x : NaN
plot 600*in(x)**2 with lines dashtype 2 linecolor rgb "#a0a7b1" notitle, \
     1.2e4*in(x)**4 with lines dashtype 2 linecolor rgb "#a0a7b1" title "slopes 2, 4, 5", \
     2e3*in(x)**5 with lines dashtype 2 linecolor rgb "#a0a7b1" notitle, \
     for [s = exprb2:exprb53] table index s using 2:3 with linespoints linewidth 1.4 \
        pointtype mark(s) pointsize 0.6 linecolor rgb colour(s) title name(s)
@right_panel
set title "rk4: steps 40 times smaller" textcolor rgb ink
set xrange [0.001/40:0.025/40]
set xtics ("3.1·10^{-5}" 3.125e-5, "6.3·10^{-5}" 6.25e-5, "1.3·10^{-4}" 1.25e-4, "2.5·10^{-4}" 2.5e-4, "5·10^{-4}" 5e-4)
unset ylabel
plot 3e4*(40*x)**4 with lines dashtype 2 linecolor rgb "#a0a7b1" title "slope 4", \
     table index rk4 using 2:3 with linespoints linewidth 1.4 pointtype mark(rk4) pointsize 0.6 linecolor rgb colour(rk4) title "rk4"
unset multiplot

# ---- Figure 2: error against cost
@size_two
set output folder . "/fput_figure_2.svg"
set multiplot
set ylabel "error at T = 100, maximum norm" textcolor rgb ink offset 0.8,0
set yrange [1e-10:1e-2]
set xtics autofreq
set format x "10^{%T}"
set xrange [*:*]
set key top right
set title "against processor time" textcolor rgb ink
set xlabel "seconds" textcolor rgb ink
@left_panel
plot for [i = 1:4] s = word("1 2 3 6", i) + 0 table index s using 5:3 with linespoints linewidth 1.4 \
        pointtype mark(s) pointsize 0.6 linecolor rgb colour(s) title name(s)
@right_panel
unset ylabel
set title "against force evaluations" textcolor rgb ink
set xlabel "force evaluations" textcolor rgb ink
plot for [i = 1:4] s = word("1 2 3 6", i) + 0 table index s using 4:3 with linespoints linewidth 1.4 \
        pointtype mark(s) pointsize 0.6 linecolor rgb colour(s) title name(s)
unset multiplot

# ---- Figures 3 and 4: energy over time; above as the paper draws it, below its relative change; every second row, for the size of the files
unset logscale
set format x "%g"
set xrange [0:100]
set xtics 20
change(H) = abs(H / 2.500300005 - 1) > 1e-13 ? abs(H / 2.500300005 - 1) : NaN
upper = "set tmargin at screen 0.93; set bmargin at screen 0.56; unset logscale y; set format y '%g'; unset xlabel; set format x ''"
lower = "set tmargin at screen 0.50; set bmargin at screen 0.095; set logscale y; set format y '10^{%T}'; set xlabel 't' textcolor rgb ink; set format x '%g'"
changes = "set yrange [1e-10:1]; set ytics 100"

@size_four
set output folder . "/fput_figure_3.svg"
table = folder . "/fput_energy.csv"
set multiplot
@upper
@left_panel
set ylabel "energy H" textcolor rgb ink offset 2.2,0
set title "exponential schemes, h = 0.01" textcolor rgb ink
set yrange [2.499:2.5015]
set ytics 0.0005
set key top left
plot for [s = 0:2] table using 1:s+2 every 2::1 with lines linewidth 1.3 linecolor rgb colour(s) title name(s)
@right_panel
unset ylabel
set title "fourth order, h = 0.01" textcolor rgb ink
set yrange [1.4:2.6]
set ytics 0.2
set key center right
plot for [i = 1:3] s = word("6 1 2", i) + 0 table using 1:(column(s == 6 ? 5 : s + 2)) every 2::1 with lines linewidth 1.3 linecolor rgb colour(s) title name(s)
unset title
unset key
@lower
@changes
@left_panel
set ylabel "|H/H_0 − 1|" textcolor rgb ink offset 0.8,0
plot for [s = 0:2] table using 1:(change(column(s+2))) every 2::1 with lines linewidth 0.9 linecolor rgb colour(s)
@right_panel
unset ylabel
plot for [i = 1:3] s = word("6 1 2", i) + 0 table using 1:(change(column(s == 6 ? 5 : s + 2))) every 2::1 with lines linewidth 0.9 linecolor rgb colour(s)
unset multiplot

@size_four
set output folder . "/fput_figure_4.svg"
table = folder . "/fput_energy_steps.csv"
steps = "0.01 0.005 0.00125 0.01 0.0025 0.001 0.00025"
shades = "#b9c0ca #7c8796 #30343b #e9b44c #d1495b #7b4fa6 #00798c"
set multiplot
@upper
@left_panel
set ylabel "energy H" textcolor rgb ink offset 2.2,0
set title "exprb2" textcolor rgb ink
set yrange [2.499:2.5015]
set ytics 0.0005
set key top left
plot for [c = 1:3] table using 1:c+1 every 2::1 with lines linewidth 1.3 linecolor rgb word(shades, c) title "h = " . word(steps, c)
@right_panel
unset ylabel
set title "rk4" textcolor rgb ink
set yrange [1.4:2.6]
set ytics 0.2
set key center right
plot for [c = 4:7] table using 1:c+1 every 2::1 with lines linewidth 1.3 linecolor rgb word(shades, c) title "h = " . word(steps, c)
unset title
unset key
@lower
@changes
@left_panel
set ylabel "|H/H_0 − 1|" textcolor rgb ink offset 0.8,0
plot for [c = 1:3] table using 1:(change(column(c+1))) every 2::1 with lines linewidth 0.9 linecolor rgb word(shades, c)
@right_panel
unset ylabel
plot for [c = 4:7] table using 1:(change(column(c+1))) every 2::1 with lines linewidth 0.9 linecolor rgb word(shades, c)
unset multiplot
unset output
