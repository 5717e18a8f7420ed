import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useFolder } from '../packages/till/src/kernel/use-folder.fixture.ts'

const promtoolMissing = spawnSync('promtool', ['--version']).status !== 0
const rules = readFileSync('deploy/alerts.yml', 'utf8')
const dashboard = JSON.parse(readFileSync('deploy/dashboard.json', 'utf8')) as {
  panels: {
    id: number
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets: { expr: string }[]
  }[]
}
const queries = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

function* sourcesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sourcesBelow(path)
    else if (/\.ts$/.test(entry.name) && !/\.(test|fixture)\.ts$/.test(entry.name)) yield path
  }
}

/** As /metrics names what the code counts. */
const suffixes = {
  count: ['_total'],
  gauge: [''],
  observeMs: ['_seconds', '_seconds_bucket', '_seconds_sum', '_seconds_count'],
}
const counted = new Set(
  ['packages/till/src', 'packages/node/src'].flatMap((folder) =>
    [...sourcesBelow(folder)].flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\.(count|gauge|observeMs)\(\s*'([a-z_]+)'/g)].flatMap(([, kind, name]) =>
        suffixes[kind as keyof typeof suffixes].map((suffix) => `assay_${name}${suffix}`),
      ),
    ),
  ),
)
const namesIn = (text: string) => new Set(text.match(/\bassay_[a-z_]+/g))

test('every metric of the alert rules and of the dashboard is one that the code has', () => {
  const used = namesIn(`${rules}\n${queries.map(({ expr }) => expr).join('\n')}`)
  expect(used.size).toBeGreaterThan(15)
  for (const name of used) expect(counted, name).toContain(name)
})

test('the dashboard has a name for each panel, and no panel covers another', () => {
  const cells = new Set<string>()
  for (const { title, gridPos } of dashboard.panels) {
    expect(title).toMatch(/\w/)
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(cells.has(`${x} ${y}`), title).toBe(false)
        cells.add(`${x} ${y}`)
      }
  }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
})

test.skipIf(promtoolMissing)('Prometheus takes the rules, and every query of the dashboard', () => {
  const folder = useFolder('rules')
  const recorded = queries.map(({ expr }, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }))
  // JSON is YAML.
  writeFileSync(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules: recorded }] }))
  for (const path of ['deploy/alerts.yml', join(folder, 'panels.yml')]) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' })
    expect(status, `${stdout}${stderr}`).toBe(0)
  }
  writeFileSync(join(folder, 'tests.yml'), JSON.stringify(ruleTests))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'tests.yml')], {
    encoding: 'utf8',
  })
  expect(status, `${stdout}${stderr}`).toBe(0)
})

/** How many alerts of this name fire then. */
const firing = (alert: string, at: string, count: number) => ({
  eval_time: at,
  expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
  exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
})

/** A quiet node raises nothing; an alarm that appears for the first time is one. */
const ruleTests = {
  rule_files: [join(process.cwd(), 'deploy/alerts.yml')],
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      input_series: [
        { series: 'assay_alarms_total{instance="a",alarm="payouts_unfunded"}', values: '_x20 1x30' },
        { series: 'assay_payments_unknown{instance="a"}', values: '0x9 1x40' },
        { series: 'assay_reconcile_difference_micro{instance="a",network="eip155:8453"}', values: '0x30 5x20' },
        { series: 'assay_facilitator_healthy{instance="a",facilitator="cdp"}', values: '0x50' },
        { series: 'assay_facilitator_healthy{instance="a",facilitator="local"}', values: '1x30 0x20' },
        { series: 'assay_http_requests_total{instance="a",status="200"}', values: '0+90x50' },
        { series: 'assay_http_requests_total{instance="a",status="503"}', values: '0+10x50' },
        { series: 'up{job="assay",instance="a"}', values: '1x30 0x20' },
      ],
      promql_expr_test: [
        ...['AssayBooksDiffer', 'AssayNoFacilitator', 'AssayDown', 'AssayAlarm'].map((name) => firing(name, '15m', 0)),
        firing('AssayPaymentsUnknown', '15m', 0),
        firing('AssayAlarm', '23m', 1),
        firing('AssayAlarm', '40m', 0),
        ...['AssayPaymentsUnknown', 'AssayBooksDiffer', 'AssayNoFacilitator', 'AssayDown', 'AssayErrors'].map((name) =>
          firing(name, '40m', 1),
        ),
      ],
    },
  ],
}
