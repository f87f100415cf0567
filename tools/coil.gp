# The coil over time: gnuplot -e "folder='RUN'" tools/coil.gp writes RUN/coil.svg and RUN/coil.png from RUN/top.csv
# (t, top) and RUN/telemetry.csv.
set datafile separator comma
set datafile columnheaders
set encoding utf8

telemetry = folder . "/telemetry.csv"
top = folder . "/top.csv"
stats top using "t" name "time" nooutput
stats telemetry using "total" every ::0::0 name "start" nooutput
stats telemetry using "kinetic" name "kinetic" nooutput

ink = "#30343b"
grey = "#6b7480"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.5 textcolor rgb ink
set grid ytics linecolor rgb "#dfe3e8" linewidth 0.8 linetype 1
unset key
set xrange [0:time_max]
set lmargin at screen 0.11
set rmargin at screen 0.86

do for [kind in "svg png"] {
    if (kind eq "svg") {
        set terminal svg enhanced size 900,640 dynamic background "white" font "Helvetica,Arial,sans-serif,13"
    } else {
        set terminal pngcairo enhanced size 1800,1280 background "white" font "Sans,13" fontscale 1.7 linewidth 2
    }
    set output folder . "/coil." . kind
    set multiplot

    set tmargin at screen 0.88
    set bmargin at screen 0.56
    set label 1 "Oscillating coil, 8,000 particles" at screen 0.11,0.955 left font ",15" textcolor rgb ink
    set label 2 "it falls to half its height and comes back; nothing damps it" at screen 0.11,0.915 left textcolor rgb grey
    set format x ""
    set ylabel "height of the top [m]" textcolor rgb ink offset -1.5,0
    set yrange [1.5:4.2]
    set ytics 1
    plot top using "t":"top" with lines linewidth 2 linecolor rgb "#00798c"
    unset label 1
    unset label 2

    set tmargin at screen 0.51
    set bmargin at screen 0.28
    set ylabel "energy [J]" textcolor rgb ink offset -1.5,0
    set yrange [0:900]
    set ytics 400
    set label 3 "kinetic" at graph 1.015, graph 0.10 left textcolor rgb "#d1495b"
    set label 4 "potential" at graph 1.015, graph 0.74 left textcolor rgb "#d99a1c"
    set label 5 "total" at graph 1.015, graph 0.93 left textcolor rgb "#1f2933"
    plot telemetry using "t":"kinetic" with linespoints pointtype 7 pointsize 0.25 linewidth 1.4 linecolor rgb "#d1495b", \
         telemetry using "t":"potential" with linespoints pointtype 7 pointsize 0.25 linewidth 1.4 linecolor rgb "#d99a1c", \
         telemetry using "t":"total" with lines linewidth 2 linecolor rgb "#1f2933"
    do for [i = 3:5] { unset label i }

    set tmargin at screen 0.23
    set bmargin at screen 0.10
    set format x "%g"
    set xlabel "time [s]" textcolor rgb ink offset 0,0.4
    set ylabel "energy error" textcolor rgb ink offset -0.8,0
    set label 6 "|E - E_0|, share\nof the largest\nkinetic energy" at graph 1.015, graph 0.8 left font ",11" textcolor rgb ink
    set logscale y
    set format y "10^{%T}"
    set yrange [1e-6:1]
    set ytics 100
    plot telemetry using "t":(abs(column("total") - start_min) / kinetic_max + 1e-16) with lines linewidth 1 linecolor rgb "#1f2933"
    unset label 6
    unset logscale y
    set format y "%g"
    set ytics autofreq
    unset xlabel
    unset multiplot
    unset output
}
