import { expect, test } from 'vitest'
import { createLog } from './log.ts'

function lines(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = ''
  write(
    createLog({
      destination: {
        write: (line: string) => {
          text += line
        },
      },
    }),
  )
  return text
}

test('secrets are cut out by name, at any depth', () => {
  const canary = 'CANARY-SECRET'
  const text = lines((log) => {
    log.info(
      {
        authorization: canary,
        headers: { 'PAYMENT-SIGNATURE': canary, 'sign-in-with-x': canary, cookie: canary, accept: 'ok' },
        private_key: canary,
        cdp_api_key_secret: canary,
        access_token: canary,
        database_url: canary,
        payment_id: 'pay_1',
      },
      'request',
    )
    log.error({ error: Object.assign(new Error('failed'), { config: { headers: { authorization: canary } } }) }, 'x')
  })
  expect(text).not.toContain(canary)
  expect(text).toContain('pay_1')
  expect(text).toContain('"message":"failed"')
})

test('E4: outside text stays one line, without terminal sequences, cut at 256', () => {
  const text = lines((log) =>
    log.info({ agent: `a\n{"level":60}\u001b[31m\u009b2J\u202e${'x'.repeat(1_000_000)}` }, 'a\nb'),
  )
  expect(text.trimEnd().split('\n')).toHaveLength(1)
  expect(text.length).toBeLessThan(800)
  for (const unit of ['\u001b', '\u009b', '\u202e']) expect(text).not.toContain(unit)
})

test('values that JSON cannot carry do not break a line', () => {
  const round: Record<string, unknown> = { big: 10n, bytes: new Uint8Array(3), run: () => 1 }
  round.self = round
  const text = lines((log) => log.warn(round, 'odd'))
  expect(JSON.parse(text)).toMatchObject({ big: '10', bytes: '[3 bytes]', msg: 'odd' })
})
