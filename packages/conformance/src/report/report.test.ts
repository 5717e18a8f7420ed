import { parseDocument } from 'htmlparser2'
import { expect, test } from 'vitest'
import type { Report } from '../run.ts'
import { reportFormats } from './index.ts'

const hostile = `<script>"&' ]]>\u0000\u001b[31m`
const report: Report = {
  ...{ url: `http://127.0.0.1/${hostile}`, at: '2026-01-01T00:00:00.000Z', nonce: 'aa', reached: 'L1' },
  price: { amount: '1000', asset: hostile, network: 'eip155:8453' },
  counts: { passed: 1, failed: 1, unclear: 1, not_judged: 1 },
  cases: (['passed', 'failed', 'unclear', 'not_judged'] as const).map((verdict, index) => ({
    ...{ id: `case-${verdict}`, level: index < 2 ? ('L1' as const) : ('L2' as const), title: hostile, why: hostile },
    ...{
      fix: hostile,
      verdict,
      seen: hostile,
      ms: 5,
      exchanges: [{ request: hostile, headers: [], status: 402, bytes: 0 }],
    },
  })),
  signatures: [],
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

test('JUnit skips what was not judged and fails what failed', () => {
  const junit = reportFormats.junit(report)
  expect([elements(junit, 'failure'), elements(junit, 'skipped')]).toEqual([1, 2])
})

test('SARIF has a rule for each case and a result for each failure', () => {
  const { runs } = JSON.parse(reportFormats.sarif(report))
  expect(runs[0].tool.driver.rules).toHaveLength(4)
  expect(runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual(['case-failed'])
})

test('the badge never claims more than was judged', () => {
  expect(reportFormats.badge(report)).toContain('partly judged')
  expect(reportFormats.badge({ ...report, reached: null })).toContain('no level')
})
