package page

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// The charts are drawn here and not by a library. github.com/go-analyze/charts
// (v0.6.4) was tried: its SVG has fixed colours on a white ground inside, so one
// file cannot be both light and dark; a scatter has neither intervals nor a
// logarithmic axis of percentiles; and a mark cannot carry the number it stands
// for, which a reader's mouse and the test both ask for.
//
// Every chart is drawn 360 units wide and shown at 280 to 560 pixels: on a phone it
// is as wide as the screen, so its letters are legible without zooming.
const chartWidth = 360

// svg is a drawing. Names and texts are escaped here and nowhere else.
type svg struct{ b strings.Builder }

func newSVG(height float64, label string) *svg {
	s := &svg{}
	s.open("svg", "viewBox", fmt.Sprintf("0 0 %d %s", chartWidth, num(height)), "role", "img", "aria-label", label)
	return s
}

func (s *svg) done() template.HTML {
	s.b.WriteString("</svg>")
	return template.HTML(s.b.String()) // built from escaped parts alone
}

// open begins an element; attributes are pairs of name and value.
func (s *svg) open(name string, attrs ...string) {
	s.b.WriteString("<" + name)
	for i := 0; i < len(attrs); i += 2 {
		s.b.WriteString(" " + attrs[i] + `="` + html.EscapeString(attrs[i+1]) + `"`)
	}
	s.b.WriteString(">")
}

func (s *svg) el(name string, attrs ...string) {
	s.open(name, attrs...)
	s.b.WriteString("</" + name + ">")
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.el("line", "class", class, "x1", num(x1), "y1", num(y1), "x2", num(x2), "y2", num(y2))
}

func (s *svg) rect(class string, x, y, w, h float64) {
	s.el("rect", "class", class, "x", num(x), "y", num(y), "width", num(max(0, w)), "height", num(h))
}

// text is anchored start, middle or end.
func (s *svg) text(class, anchor string, x, y float64, text string) {
	s.open("text", "class", class, "text-anchor", anchor, "x", num(x), "y", num(y))
	s.b.WriteString(html.EscapeString(text) + "</text>")
}

// mark is a point that carries its number, which a mouse over it shows too.
func (s *svg) mark(series int, x, y, r float64, v value, tip string) {
	s.open("path", append([]string{"class", fmt.Sprintf("mark s%d", series), "d", shape(series, x, y, r), "data-x", num(x), "data-y", num(y)}, v.attrs()...)...)
	s.b.WriteString("<title>" + html.EscapeString(tip) + "</title></path>")
}

// path joins points; a gap of more than one step is the caller's to see.
func (s *svg) path(class string, xy [][2]float64) {
	var d strings.Builder
	for i, p := range xy {
		d.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + num(p[0]) + " " + num(p[1]))
	}
	s.el("path", "class", class, "d", d.String())
}

// shape tells series apart without colour: circle, square, diamond, two triangles,
// and a cross, over again.
func shape(series int, x, y, r float64) string {
	poly := func(points ...float64) string {
		d := ""
		for i := 0; i < len(points); i += 2 {
			d += map[bool]string{true: "M", false: "L"}[i == 0] + num(x+points[i]*r) + " " + num(y+points[i+1]*r)
		}
		return d + "Z"
	}
	switch series % colours {
	case 0:
		return fmt.Sprintf("M%s %sa%[3]s %[3]s 0 1 0 %[4]s 0a%[3]s %[3]s 0 1 0 -%[4]s 0Z", num(x-r), num(y), num(r), num(2*r))
	case 1:
		return poly(-.9, -.9, .9, -.9, .9, .9, -.9, .9)
	case 2:
		return poly(0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0)
	case 3:
		return poly(0, -1.2, 1.2, .9, -1.2, .9)
	case 4:
		return poly(0, 1.2, 1.2, -.9, -1.2, -.9)
	}
	return poly(-1.2, -.4, -.4, -.4, -.4, -1.2, .4, -1.2, .4, -.4, 1.2, -.4, 1.2, .4, .4, .4, .4, 1.2, -.4, 1.2, -.4, .4, -1.2, .4)
}

// num keeps drawings small: a hundredth of a unit cannot be seen.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

// scale maps values onto a stretch of the drawing.
type scale struct {
	lo, hi   float64
	from, to float64
	log      bool
}

func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(max(v, s.lo)), math.Log(lo), math.Log(hi)
	}
	if hi == lo {
		return s.from
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// fromZero is a scale that starts at 0, so that lengths can be compared, and ends
// on a tick.
func fromZero(most, from, to float64) (scale, []float64) {
	if !(most > 0) {
		most = 1
	}
	step := niceStep(most / 4)
	top := step * math.Ceil(most/step*0.999)
	var ticks []float64
	for i := 0.0; i*step <= top*1.001; i++ {
		ticks = append(ticks, i*step)
	}
	return scale{hi: top, from: from, to: to}, ticks
}

// niceStep rounds up to 1, 2, 2.5 or 5 times a power of ten.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if v <= m*p*1.001 {
			return m * p
		}
	}
	return 10 * p
}

// decades is a logarithmic scale with ticks at 1, 2 and 5 of each power of ten, or at
// the powers alone where there are many.
func decades(least, most, from, to float64) (scale, []float64) {
	if !(least > 0) || !(most >= least) {
		least, most = 1, 10
	}
	var ticks []float64
	for p := math.Floor(math.Log10(least)); p <= math.Ceil(math.Log10(most)); p++ {
		for _, m := range []float64{1, 2, 5} {
			ticks = append(ticks, m*math.Pow(10, p))
		}
	}
	for len(ticks) > 2 && ticks[1] <= least {
		ticks = ticks[1:]
	}
	for len(ticks) > 2 && ticks[len(ticks)-2] >= most {
		ticks = ticks[:len(ticks)-1]
	}
	s := scale{lo: ticks[0], hi: ticks[len(ticks)-1], from: from, to: to, log: true}
	if len(ticks) > 7 {
		var few []float64
		for _, t := range ticks {
			if e := math.Log10(t); math.Abs(e-math.Round(e)) < 1e-9 {
				few = append(few, t)
			}
		}
		ticks = few
	}
	return s, ticks
}
