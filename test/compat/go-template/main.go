// Renders templates with the engine that Helm uses, Go's text/template, for what deploy/helm needs of Helm and no more: .Values,
// .Chart, and the functions default, quote and toJson. Anything else fails. Standard library only.
//
// Reads {"data": {...}, "templates": {"name": "text"}} and writes {"name": "rendered"}.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"text/template"
)

var functions = template.FuncMap{
	"default": func(fallback, value any) any {
		if value == nil || value == "" {
			return fallback
		}
		return value
	},
	"quote": func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
	"toJson": func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	},
}

func main() {
	var input struct {
		Data      map[string]any
		Templates map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	rendered := map[string]string{}
	for name, text := range input.Templates {
		parsed, err := template.New(name).Funcs(functions).Option("missingkey=error").Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		var out strings.Builder
		if err := parsed.Execute(&out, input.Data); err != nil {
			log.Fatal(err)
		}
		rendered[name] = out.String()
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		log.Fatal(err)
	}
}
