package main

import "fmt"

// The data of the requests. All entities match all constraints.
const (
	entityCount = 1000
	pageFlags   = 50     // in a batch, and in the namespace of bulk requests
	pageSpace   = "page" // the namespace of bulk requests
)

// entity is an entity for which flags are evaluated.
type entity struct {
	id  string
	age int
}

func entityOf(i int) entity { return entity{id: fmt.Sprintf("user-%04d", i), age: 18 + i%50} }

// evaluation returns a request for one flag in the Flipt API.
func (e entity) evaluation(flag string) object {
	return object{
		"namespaceKey": "default", "flagKey": flag, "entityId": e.id,
		"context": map[string]string{"country": "US", "age": fmt.Sprint(e.age), "beta": "true"},
	}
}

// context returns the OFREP request for the entity.
func (e entity) context() object {
	return object{"context": object{"targetingKey": e.id, "country": "US", "age": e.age, "beta": true}}
}
