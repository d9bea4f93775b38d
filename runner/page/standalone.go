package page

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// ErrNoCurve says that a session has no latency against rate.
var ErrNoCurve = errors.New("the session holds no search for capacity")

// Curve writes the figure of p95 against rate as a drawing that stands alone.
func Curve(w io.Writer, s *record.Session, e findings.Evaluation) error {
	v := view{s, &e}
	if e.Capacity == nil {
		return ErrNoCurve
	}
	var figures []figure
	for _, sc := range s.Plan.Scenarios {
		if sc.Kind == record.Capacity {
			figures = append(figures, v.curves(sc)...)
		}
	}
	if len(figures) < 3 {
		return ErrNoCurve
	}
	return alone(w, figures[1]) // p95
}

// alone writes a figure's drawing with the page's style in it.
func alone(w io.Writer, f figure) error {
	chart := string(f.Chart)
	head, body, _ := strings.Cut(chart, ">")
	head = strings.Replace(head, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" width="720" `, 1)
	if _, err := fmt.Fprintf(w, "%s><style><![CDATA[\n%s]]></style><rect width=\"100%%\" height=\"100%%\" style=\"fill: var(--ground)\"/>%s\n", head, style, body); err != nil {
		return fmt.Errorf("write curve: %w", err)
	}
	return nil
}
