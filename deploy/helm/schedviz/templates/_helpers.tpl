{{- define "schedviz.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "schedviz.selector" -}}
app.kubernetes.io/name: schedviz
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "schedviz.labels" -}}
{{ include "schedviz.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | quote }}
{{- end }}

{{- define "schedviz.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* The environment of the web server, the workers and the job runner. */ -}}
{{- define "schedviz.environment" -}}
envFrom:
  - configMapRef: {name: {{ include "schedviz.name" . }}-settings}
  - secretRef: {name: {{ .Values.secret | quote }}}
{{- if .Values.redis.enabled }}
env:
  - name: REDIS_PASSWORD
    valueFrom:
      secretKeyRef: {name: {{ .Values.secret | quote }}, key: REDIS_PASSWORD}
  - name: REDIS_URL
    value: redis://:$(REDIS_PASSWORD)@{{ include "schedviz.name" . }}-redis:6379/0
{{- end }}
{{- end }}

{{- define "schedviz.pod-security" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "schedviz.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* Two replicas of the same process are placed on different nodes if that is possible. */ -}}
{{- define "schedviz.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "schedviz.selector" . | nindent 6 }}
{{- end }}

{{- /* Not httpGet: its Host header would have to be in ALLOWED_HOSTS. */ -}}
{{- define "schedviz.healthz" -}}
exec:
  command: [python, -m, schedviz.up.health, "http://127.0.0.1:8000/healthz"]
timeoutSeconds: 10
{{- end }}

{{- define "schedviz.heartbeat" -}}
exec:
  command: [python, -m, schedviz.up.health, {{ . }}]
timeoutSeconds: 10
{{- end }}
