# Energies of the FPUT chain over time: gnuplot -e "csv='IN.csv'; out='OUT'" tools/fput_energy.gp writes OUT.svg, OUT.png.
# The table, by examples/fput_energy, has the columns t, H, I1, I2, I3, I.
set datafile separator comma
set datafile columnheaders
set encoding utf8

stats csv using "t" name "time" nooutput
last = time_records - 1
stats csv using "H" every ::0::0 name "start" nooutput
relative_error(H) = abs(H / start_min - 1.0)
# Where each curve ends, to write its name there.
columns = "H I I1 I2 I3"
names   = "total H|all stiff springs I|first stiff spring I_1|second I_2|third I_3"
colours = "#1f2933 #8a94a3 #d1495b #00798c #d99a1c"
array end_of[words(columns)]
do for [i = 1:words(columns)] {
    stats csv using word(columns, i) every ::last::last name "final" nooutput
    end_of[i] = final_min
}
name(i) = system(sprintf("echo '%s' | cut -d'|' -f%d", names, i))

ink = "#30343b"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.5 textcolor rgb ink
set grid ytics linecolor rgb "#dfe3e8" linewidth 0.8 linetype 1
unset key
set xrange [0:time_max]

do for [kind in "svg png"] {
    if (kind eq "svg") {
        set terminal svg enhanced size 900,560 dynamic background "white" font "Helvetica,Arial,sans-serif,13"
    } else {
        set terminal pngcairo enhanced size 1800,1120 background "white" font "Sans,13" fontscale 1.7 linewidth 2
    }
    set output out . "." . kind
    set multiplot
    set lmargin at screen 0.085
    set rmargin at screen 0.80

    set tmargin at screen 0.88
    set bmargin at screen 0.37
    set label 1 "Fermi–Pasta–Ulam–Tsingou chain" at screen 0.085,0.955 left font ",15" textcolor rgb ink
    set label 2 "three stiff springs pass their energy on, their sum stays" at screen 0.085,0.915 left textcolor rgb "#6b7480"
    do for [i = 1:words(columns)] {
        set label 10 + i name(i) at graph 1.015, first end_of[i] left textcolor rgb word(colours, i)
    }
    set format x ""
    set ylabel "energy" textcolor rgb ink offset 1.2,0
    set yrange [0:*]
    plot for [i = 1:words(columns)] csv using "t":word(columns, i) with lines linewidth 1.6 linecolor rgb word(colours, i)

    do for [i = 1:words(columns)] { unset label 10 + i }
    unset label 1
    unset label 2
    set tmargin at screen 0.30
    set bmargin at screen 0.115
    set format x "%g"
    set xlabel "time" textcolor rgb ink offset 0,0.4
    set ylabel "energy error" textcolor rgb ink offset 1.4,0
    set label 3 "|H/H_0 − 1|" at graph 1.015, graph 0.5 left textcolor rgb ink
    set logscale y
    set format y "10^{%T}"
    set yrange [*:*]
    set ytics 100
    plot csv using "t":(relative_error(column("H")) > 0 ? relative_error(column("H")) : NaN) \
        with lines linewidth 1 linecolor rgb "#1f2933"
    unset label 3
    unset logscale y
    set ytics autofreq
    set format y "%g"
    unset xlabel
    unset multiplot
    unset output
}
