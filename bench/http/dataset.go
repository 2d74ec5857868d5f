package main

import "fmt"

// What the requests are about. All entities meet all constraints.
const (
	entityCount = 1000
	pageFlags   = 50     // of a batch, and of the namespace that bulk requests are about
	pageSpace   = "page" // that namespace
)

type object = map[string]any

// entity is who a flag is evaluated for.
type entity struct {
	id  string
	age int
}

func entityOf(i int) entity { return entity{id: fmt.Sprintf("user-%04d", i), age: 18 + i%50} }

// evaluation is a request for one flag over the Flipt interface.
func (e entity) evaluation(flag string) object {
	return object{
		"namespaceKey": "default", "flagKey": flag, "entityId": e.id,
		"context": map[string]string{"country": "US", "age": fmt.Sprint(e.age), "beta": "true"},
	}
}

// context is what OFREP says of the entity.
func (e entity) context() object {
	return object{"context": object{"targetingKey": e.id, "country": "US", "age": e.age, "beta": true}}
}
