package load

// Places in a chunked body (RFC 9112, section 7.1).
const (
	inSize     = iota // hex digits
	inExt             // chunk extension, skipped up to the line's end
	inSizeEnd         // the LF of a size line
	inData            //
	inDataCR          // CR after the data
	inDataLF          //
	inTrailer         // at the start of a trailer line
	inLine            // in a trailer line, skipped
	inFinalEnd        // the LF of the last, empty line
)

// maxSkipped bounds extensions and trailers of a reply.
const maxSkipped = 16 << 10

type chunkState struct {
	place   int
	left    int64 // bytes left in the chunk
	digits  int   // hex digits of the size so far
	skipped int
}

// feedChunks decodes in place: payload moves down to the end of what is kept.
func (r *reader) feedChunks(b []byte) (bool, *fault) {
	c := &r.chunk
	for len(b) > 0 {
		if c.place == inData {
			n := min(int64(len(b)), c.left)
			r.keep(b[:n])
			b = b[n:]
			if c.left -= n; c.left == 0 {
				c.place = inDataCR
			}
			continue
		}
		done, ok := c.step(b[0])
		if !ok {
			return false, malformed(errChunk)
		}
		b = b[1:]
		if done {
			if len(b) > 0 {
				return false, malformed(errChunkRest)
			}
			return true, nil
		}
	}
	return false, nil
}

// step takes one byte outside the data.
func (c *chunkState) step(x byte) (done, ok bool) {
	switch c.place {
	case inSize:
		return false, c.size(x)
	case inExt, inLine:
		if c.skipped++; c.skipped > maxSkipped {
			return false, false
		}
		if x == '\n' {
			c.endLine()
		}
	case inSizeEnd:
		if x != '\n' {
			return false, false
		}
		c.endLine()
	case inDataCR:
		c.place = inDataLF
		return false, x == '\r'
	case inDataLF:
		c.place = inSize
		return false, x == '\n'
	case inTrailer:
		switch x {
		case '\r':
			c.place = inFinalEnd
		case '\n':
			return true, true
		default:
			c.place = inLine
		}
	case inFinalEnd:
		return true, x == '\n'
	}
	return false, true
}

// size takes a byte of the line that begins a chunk.
func (c *chunkState) size(x byte) bool {
	d := int64(-1)
	switch {
	case x >= '0' && x <= '9':
		d = int64(x - '0')
	case x >= 'a' && x <= 'f':
		d = int64(x-'a') + 10
	case x >= 'A' && x <= 'F':
		d = int64(x-'A') + 10
	}
	switch {
	case d >= 0:
		c.left, c.digits = c.left<<4|d, c.digits+1
		return c.digits <= 12
	case c.digits == 0:
		return false
	case x == '\r':
		c.place = inSizeEnd
	case x == '\n':
		c.endLine()
	case x == ';' || x == ' ' || x == '\t':
		c.place = inExt
	default:
		return false
	}
	return true
}

// endLine goes on behind the line that just ended.
func (c *chunkState) endLine() {
	switch {
	case c.place == inLine:
		c.place = inTrailer
	case c.left == 0:
		c.place = inTrailer
	default:
		c.place = inData
	}
	c.digits = 0
}
