"""The paths of the pages. Everything of a sandbox lies under its own path, beside its API."""

from django.urls import path
from django.views.i18n import set_language

from schedviz.web.views import (
    command,
    forms,
    home,
    leader,
    objects,
    past,
    sandbox,
    scheduler,
    stored,
    table,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("language/", set_language, name="set-language"),
    path("sandboxes/", home.create, name="create-sandbox"),
    path("s/<slug:name>/", sandbox.page, name="sandbox"),
    path("s/<slug:name>/at/", past.jump, name="jump"),
    path("s/<slug:name>/at/<int:seq>/", past.page, name="moment"),
    path("s/<slug:name>/at/<int:seq>/branch/", past.new_branch, name="branch"),
    path("s/<slug:name>/at/<int:seq>/cycles/<int:number>/", sandbox.cycle),
    path("s/<slug:name>/at/<int:seq>/pods/<str:namespace>/<str:pod>/", objects.pod),
    path("s/<slug:name>/at/<int:seq>/nodes/<str:node>/", objects.node),
    path("s/<slug:name>/delete/", home.delete, name="delete-sandbox"),
    path("s/<slug:name>/clock/", sandbox.clock, name="clock"),
    path("s/<slug:name>/command/", command.command, name="command"),
    path("s/<slug:name>/command/options/", command.completions, name="command-options"),
    path("s/<slug:name>/leader/", leader.show, name="leader"),
    path("s/<slug:name>/leader/kill/", leader.kill, name="kill-leader"),
    path("s/<slug:name>/leader/relist/", leader.relist, name="break-watch"),
    path("s/<slug:name>/cycles/<int:number>/", sandbox.cycle, name="cycle"),
    path("s/<slug:name>/urgent/", forms.urgent, name="urgent"),
    path("s/<slug:name>/new/yaml/", forms.paste, name="paste"),
    path("s/<slug:name>/new/<slug:kind>/", forms.new, name="new"),
    path("s/<slug:name>/scheduler/", scheduler.edit, name="scheduler"),
    path("s/<slug:name>/objects/", stored.kinds, name="kinds"),
    path("s/<slug:name>/objects/<str:resource>/", stored.objects, name="objects"),
    path("s/<slug:name>/objects/<str:resource>/<path:key>/", stored.show, name="object"),
    path("s/<slug:name>/edit/<str:resource>/<path:key>/", stored.edit, name="edit"),
    path("s/<slug:name>/delete/<str:resource>/<path:key>/", stored.delete, name="delete-object"),
    path("s/<slug:name>/pods/<str:namespace>/<str:pod>/", objects.pod, name="pod"),
    path("s/<slug:name>/pods/<str:namespace>/<str:pod>/delete/", objects.delete_pod, name="delete-pod"),
    path("s/<slug:name>/pods/<str:namespace>/<str:pod>/permit/", objects.permit, name="permit"),
    path("s/<slug:name>/nodes/", table.nodes, name="nodes"),
    path("s/<slug:name>/nodes/<str:node>/", objects.node, name="node"),
    path("s/<slug:name>/nodes/<str:node>/<slug:action>/", objects.change_node, name="change-node"),
]
