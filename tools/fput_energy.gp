# Energies of the FPUT chain over time: gnuplot -e "csv='IN.csv'; out='OUT'" tools/fput_energy.gp writes OUT.svg, OUT.png.
# The table has the columns t, total, oscillatory, i1, i2, i3.
set datafile separator comma
set datafile columnheaders
set encoding utf8

stats csv using "total" every ::0::0 name "first" nooutput
relative_error(total) = abs(total / first_min - 1.0) + 1e-17

ink   = "#30343b"
faint = "#d9dde3"
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror scale 0.6 textcolor rgb ink
set grid ytics linecolor rgb faint linewidth 0.8 linetype 1
set key outside right center samplen 1.6 spacing 1.25 textcolor rgb ink Left reverse
set linetype 1 linecolor rgb "#1f2933" linewidth 1.6
set linetype 2 linecolor rgb "#8a94a3" linewidth 1.2
set linetype 3 linecolor rgb "#d1495b" linewidth 1.5
set linetype 4 linecolor rgb "#00798c" linewidth 1.5
set linetype 5 linecolor rgb "#edae49" linewidth 1.5

do for [kind in "svg png"] {
    if (kind eq "svg") {
        set terminal svg size 900,560 dynamic background "white" font "Helvetica,Arial,sans-serif,13"
    } else {
        set terminal pngcairo size 1800,1120 background "white" font "Sans,13" fontscale 1.7 linewidth 2
    }
    set output out . "." . kind
    set multiplot
    set lmargin at screen 0.09
    set rmargin at screen 0.82

    set tmargin at screen 0.91
    set bmargin at screen 0.36
    set label 1 "Fermi–Pasta–Ulam–Tsingou chain: stiff springs pass their energy on" at screen 0.09,0.955 left textcolor rgb ink
    set xrange [0:*]
    set format x ""
    set ylabel "energy" textcolor rgb ink offset 1,0
    set yrange [0:*]
    plot csv using "t":"total" with lines lt 1 title "total", \
         "" using "t":"oscillatory" with lines lt 2 title "all stiff springs", \
         "" using "t":"i1" with lines lt 3 title "first", \
         "" using "t":"i2" with lines lt 4 title "second", \
         "" using "t":"i3" with lines lt 5 title "third"

    unset label 1
    set tmargin at screen 0.30
    set bmargin at screen 0.11
    set format x "%g"
    set xlabel "time" textcolor rgb ink offset 0,0.5
    set ylabel "|H/H_0 − 1|" textcolor rgb ink offset 1,0
    set logscale y
    set format y "10^{%L}"
    set yrange [*:*]
    plot csv using "t":(relative_error(column("total"))) with lines lt 1 title "energy error"
    unset logscale y
    set format y "%g"
    unset xlabel
    unset multiplot
}
