package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/util/proto"
)

var discoveryChecks = []check{
	{"discovery/aggregated", discoveryAggregated},
	{"discovery/legacy", discoveryLegacy},
	{"discovery/rest-mapper", discoveryRestMapper},
	{"discovery/openapi-v2", discoveryOpenApiV2},
	{"discovery/openapi-v3", discoveryOpenApiV3},
}

func discoveryAggregated(_ context.Context, t *test, c *cluster) {
	_, lists, err := c.discovery.ServerGroupsAndResources()
	t.must(err, "groups and resources")
	t.that(len(lists) > 20, "there are group versions")
	t.equal("requests", c.wire.seen(func(e exchange) bool { return strings.HasPrefix(e.path, "/api") && e.method == "GET" }), 2)
	preferred, err := discovery.ServerPreferredNamespacedResources(c.discovery)
	t.must(err, "preferred resources")
	deletable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"delete", "list", "watch"}}, preferred)
	t.that(len(deletable) > 10, "some can be collected")
	version, err := c.discovery.ServerVersion()
	t.must(err, "version")
	t.equal("version", version.Major+"."+version.Minor, "1.36")
}

// The two forms say the same.
func discoveryLegacy(_ context.Context, t *test, c *cluster) {
	names := func(client discovery.DiscoveryInterface) map[string]bool {
		_, lists, err := client.ServerGroupsAndResources()
		t.must(err, "groups and resources")
		all := map[string]bool{}
		for _, list := range lists {
			for _, one := range list.APIResources {
				all[fmt.Sprintf("%s %s %s %t %v %v", list.GroupVersion, one.Name, one.Kind, one.Namespaced, one.Verbs, one.ShortNames)] = true
			}
		}
		return all
	}
	legacy := discovery.NewDiscoveryClient(c.discovery.RESTClient())
	legacy.UseLegacyDiscovery = true
	t.equal("what the older form lists", names(legacy), names(c.discovery))
}

func discoveryRestMapper(ctx context.Context, t *test, c *cluster) {
	cached := memory.NewMemCacheClient(c.discovery)
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	mapper := restmapper.NewShortcutExpander(deferred, cached, nil)
	for short, want := range map[string]string{"deploy": "apps/v1, Resource=deployments", "cm": "/v1, Resource=configmaps", "sts": "apps/v1, Resource=statefulsets"} {
		got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short})
		t.must(err, short)
		t.equal(short, got.String(), want)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "batch", Kind: "Job"})
	t.must(err, "mapping")
	t.equal("resource", mapping.Resource.Resource, "jobs")
	t.equal("scope", mapping.Scope.Name(), meta.RESTScopeNameNamespace)
	_, err = mapper.RESTMapping(schema.GroupKind{Group: "bridges.example.com", Kind: "Bridge"})
	t.that(err != nil, "a kind that is not there has no mapping")
	define(ctx, t, c, "bridges", "Bridge")
	deferred.Reset()
	mapping, err = mapper.RESTMapping(schema.GroupKind{Group: "bridges.example.com", Kind: "Bridge"})
	t.must(err, "mapping of a custom resource")
	t.equal("resource", mapping.Resource.Resource, "bridges")
}

// The document in protobuf, through the decoder and the models that clients use.
func discoveryOpenApiV2(ctx context.Context, t *test, c *cluster) {
	define(ctx, t, c, "castles", "Castle")
	t.eventually(ctx, "the custom resource is described", func(context.Context) (bool, error) {
		document, err := c.discovery.OpenAPISchema()
		if err != nil {
			return false, err
		}
		models, err := proto.NewOpenAPIData(document)
		if err != nil {
			return false, err
		}
		return models.LookupModel("com.example.castles.v1.Castle") != nil, nil
	})
	document, err := c.discovery.OpenAPISchema()
	t.must(err, "document")
	models, err := proto.NewOpenAPIData(document)
	t.must(err, "models")
	described := map[string]bool{}
	for _, name := range models.ListModels() {
		kinds, ok := models.LookupModel(name).GetExtensions()["x-kubernetes-group-version-kind"].([]any)
		if !ok {
			continue
		}
		for _, kind := range kinds {
			// YAML of the extension: keys of any type.
			one := kind.(map[any]any)
			described[fmt.Sprintf("%v/%v/%v", one["group"], one["version"], one["kind"])] = true
		}
	}
	_, lists, err := c.discovery.ServerGroupsAndResources()
	t.must(err, "discovery")
	for _, list := range lists {
		version, err := parseGroupVersion(list.GroupVersion)
		t.must(err, list.GroupVersion)
		for _, one := range list.APIResources {
			if strings.Contains(one.Name, "/") || strings.HasSuffix(version.Group, ".example.com") && version.Group != "castles.example.com" {
				continue
			}
			key := fmt.Sprintf("%s/%s/%s", version.Group, version.Version, one.Kind)
			t.that(described[key], key+" is described")
		}
	}
}

func discoveryOpenApiV3(_ context.Context, t *test, c *cluster) {
	root := openapi3.NewRoot(c.discovery.OpenAPIV3())
	versions, err := root.GroupVersions()
	t.must(err, "group versions")
	t.that(len(versions) > 20, "there are documents")
	for _, version := range versions {
		if strings.HasSuffix(version.Group, ".example.com") {
			continue
		}
		document, err := root.GVSpec(version)
		t.must(err, version.String())
		t.that(len(document.Components.Schemas) > 0 && len(document.Paths.Paths) > 0, version.String()+" has content")
	}
}
