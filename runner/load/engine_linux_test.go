package load

var engines = []string{engineEpoll, engineNet}
