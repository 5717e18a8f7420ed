import { parseDocument } from 'htmlparser2'
import { expect, test } from 'vitest'
import type { Report } from '../run.ts'
import { reportFormats } from './index.ts'

const hostile = `<script>"&' ]]>\u0000\u001b[31m`
const report: Report = {
  ...{ url: `http://127.0.0.1/${hostile}`, at: '2026-01-01T00:00:00.000Z', nonce: 'aa', reached: 'L1' },
  price: { amount: '1000', asset: hostile, network: 'eip155:8453' },
  counts: { passed: 1, failed: 1, unclear: 1, skipped: 1 },
  cases: (['passed', 'failed', 'unclear', 'skipped'] as const).map((verdict, index) => ({
    ...{ id: `case-${verdict}`, level: index < 2 ? ('L1' as const) : ('L2' as const), title: hostile, why: hostile },
    ...{
      fix: hostile,
      verdict,
      seen: hostile,
      ms: 5,
      exchanges: [{ request: hostile, headers: [], status: 402, bytes: 0 }],
    },
  })),
  signatures: [
    {
      ...{ case: hostile, kind: 'authorization', network: 'eip155:8453', asset: hostile, from: '0x01', to: hostile },
      ...{ value: '1000', nonce: hostile, validBefore: '1', signature: '0x02' },
    },
  ],
}

const elements = (text: string, name: string) => {
  const found: string[] = []
  const walk = (nodes: ReturnType<typeof parseDocument>['children']) => {
    for (const node of nodes) {
      if ('name' in node && node.name === name) found.push(name)
      if ('children' in node) walk(node.children as typeof nodes)
    }
  }
  walk(parseDocument(text, { xmlMode: name !== 'script' }).children)
  return found.length
}

test('what a seller answered cannot become markup of the report', () => {
  expect(elements(reportFormats.html(report), 'script')).toBe(0)
  expect(reportFormats.html(report)).toContain('&lt;script&gt;')
  expect(elements(reportFormats.junit(report), 'testcase')).toBe(4)
})

test('JUnit skips what was skipped and fails what failed', () => {
  const junit = reportFormats.junit(report)
  expect([elements(junit, 'failure'), elements(junit, 'skipped')]).toEqual([1, 2])
})

/** Every element is closed in order, attributes are quoted, and nothing is outside the root. */
function isWellFormed(xml: string): boolean {
  const open: string[] = []
  let roots = 0
  const rest = xml.replace(/^<\?xml [^?]*\?>/, '').replace(tag, (_, closing, name, _attributes, single) => {
    if (closing) return open.pop() === name ? '' : '<'
    if (open.length === 0) roots += 1
    if (!single) open.push(name)
    return ''
  })
  return roots === 1 && open.length === 0 && !/[<>]|&(?!(amp|lt|gt|quot|#39);)/.test(rest)
}
const tag = /<(\/?)([a-z]+)((?: [a-z]+="[^"<>]*")*)(\/?)>/g

test('JUnit is well-formed XML, whatever a seller answered', () => {
  const junit = reportFormats.junit(report)
  expect(isWellFormed(junit)).toBe(true)
  expect(isWellFormed(junit.replace('</testsuites>', ''))).toBe(false)
  expect(isWellFormed(junit.replace('&lt;', '<'))).toBe(false)
})

test('SARIF has the members that version 2.1.0 requires: a rule for each case, a result for each failure', () => {
  const { $schema, version, runs } = JSON.parse(reportFormats.sarif(report))
  expect([version, new URL($schema).pathname.split('/').at(-1)]).toEqual(['2.1.0', 'sarif-schema-2.1.0.json'])
  const [{ tool, results, invocations }] = runs
  expect(typeof tool.driver.name).toBe('string')
  expect(invocations).toMatchObject([{ executionSuccessful: true }])
  const ids = tool.driver.rules.map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(4)
  for (const { shortDescription, fullDescription, help } of tool.driver.rules)
    for (const { text } of [shortDescription, fullDescription, help]) expect(text).toBe(hostile)
  expect(results).toHaveLength(1)
  for (const { ruleId, ruleIndex, level, message, locations } of results) {
    expect([ruleId, ids[ruleIndex], level]).toEqual(['case-failed', 'case-failed', 'error'])
    expect(message.text).toContain(hostile)
    const { uri } = locations[0].physicalLocation.artifactLocation
    // Letters that a URI cannot have.
    expect(uri).not.toMatch(/[<>" ]/)
    expect(new URL(uri).host).toBe('127.0.0.1')
  }
})

test('the page is one file: no script, and nothing that a browser would fetch', () => {
  const page = reportFormats.html(report)
  expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form)\b/i)
  expect(page).not.toMatch(/\b(src|href|action|poster|srcset)=|@import|url\(/i)
  expect(page.match(/https?:\/\/[^"<\s]+/g)?.filter((url) => !url.includes('w3.org/2000/svg'))).toEqual([
    ...Array(2).fill('http://127.0.0.1/&lt;script&gt;&quot;&amp;&#39;'),
  ])
})

test('a terminal gets a line for each checked case, and the reason for the others once', () => {
  const [passed, , , other] = report.cases
  if (!passed || !other) throw new Error('four cases')
  const cases = [
    passed,
    ...['one', 'two'].map((id) => ({ ...other, id, level: 'L1' as const, seen: 'is not offered' })),
  ]
  expect(
    reportFormats
      .text({ ...report, cases })
      .split('\n')
      .slice(0, 4),
  ).toEqual(['L1 Protocol', `  case-passed  ok       ${hostile}`, '  skipped: is not offered', '    one, two'])
})

test('the badge never claims more than was checked', () => {
  expect(reportFormats.badge(report)).toContain('partly checked')
  expect(reportFormats.badge({ ...report, reached: null })).toContain('no level')
})
