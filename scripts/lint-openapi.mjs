// npm run lint:openapi -- <url of a running node>: its OpenAPI documents under Redocly and Spectral, with their recommended rules.
// They are fetched by npx at these versions and are no dependencies: together they weigh more than the node.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const node = process.argv[2] ?? 'http://127.0.0.1:4020'
const folder = mkdtempSync(join(tmpdir(), 'assay-openapi-'))
const rules = join(folder, 'spectral.yaml')
writeFileSync(rules, 'extends: ["spectral:oas"]\n')
const files = []
for (const path of ['/openapi.json', '/openapi/full.json']) {
  const file = join(folder, path.replaceAll('/', '-').slice(1))
  writeFileSync(file, await (await fetch(new URL(path, node))).text())
  files.push(file)
}
const run = (name, ...args) => spawnSync('npx', ['--yes', name, ...args], { stdio: 'inherit' }).status
const ended = [
  run('@redocly/cli@2.73.0', 'lint', '--extends=recommended', ...files),
  run('@stoplight/spectral-cli@6.16.3', 'lint', '--fail-severity=warn', '--ruleset', rules, ...files),
]
rmSync(folder, { recursive: true, force: true })
process.exitCode = ended.every((status) => status === 0) ? 0 : 1
