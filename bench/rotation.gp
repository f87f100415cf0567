# What keeps rotating: gnuplot -e "folder='docs/figures'" bench/rotation.gp, from the tables of
# build/bench/bench_rotation docs/figures
set encoding utf8
set datafile separator comma
ink = "#30343b"
pale = "#dfe3e8"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.5 textcolor rgb ink
set grid xtics ytics linecolor rgb pale linewidth 0.8 linetype 1
set terminal svg enhanced size 980,400 dynamic background 'white' font 'Helvetica,Arial,sans-serif,13'
set output folder . "/rotation.svg"
colours = "#d1495b #7b4fa6 #00798c #9b6a4b"
widths = "1.8 3.4 1.4 1.4"
dashes = "1 1 2 3"
name(i) = i < 4 ? sprintf("expmid2, corrections: %d", i - 1) : "midpoint rule (fails)"

set multiplot layout 1,2 margins 0.065,0.985,0.15,0.88 spacing 0.09
unset key
set title "Stiff pendulum, k = 10^6 N/m, h = 0.05 s: largest angle" textcolor rgb ink
set xlabel "t [s]" textcolor rgb ink
set ylabel "degrees" offset 1,0 textcolor rgb ink
set xrange [0:200]
set yrange [0:65]
plot for [i=1:4] folder . "/rotation_pendulum.csv" every ::1 using 1:(column(i+1)) with lines \
    linecolor rgb word(colours,i) linewidth word(widths,i) dashtype int(word(dashes,i)) notitle

set key at graph 0.42,0.80 left top vertical noenhanced textcolor rgb ink samplen 2.5 Left reverse
set title "Free box, 20 steps per revolution: angular momentum" textcolor rgb ink
set xlabel "revolutions" textcolor rgb ink
set ylabel "L / L_0" offset 1,0 textcolor rgb ink
set xrange [0:30]
set yrange [0:1.1]
start = 2 * pi * 11   # of a box that turns once in a second: sum of m r^2 = 11 kg m^2
plot for [i=1:4] folder . "/rotation_box.csv" every ::1 using 1:(column(i+1)/start) with lines \
    linecolor rgb word(colours,i) linewidth word(widths,i) dashtype int(word(dashes,i)) title name(i)
unset multiplot
