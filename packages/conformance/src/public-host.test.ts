import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base } from '@assay/protocol/networks'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { checkCommand } from './check-command.ts'
import { permissionPath } from './permission.ts'
import type { Report } from './run.ts'

/** Not one of the names of this machine that the suite knows: to it, a host elsewhere. Linux answers at all of 127/8. */
const elsewhere = '127.0.0.2'
const account = privateKeyToAccount(`0x${'1'.padStart(64, '0')}`)
const nonce = 'ab'.repeat(16)
const header = Buffer.from(
  JSON.stringify({
    ...{ x402Version: 2, error: 'Payment required', resource: { url: `http://${elsewhere}/paid` }, extensions: {} },
    accepts: [
      {
        ...{ scheme: 'exact', network: base.caip2, amount: '1000', asset: base.usdc.address, maxTimeoutSeconds: 600 },
        ...{ payTo: account.address, extra: { name: 'USD Coin', version: '2' } },
      },
    ],
  }),
).toString('base64')

let served = ''
let requests: { method: string | undefined; isPaid: boolean; payment: string | undefined }[] = []
const server = createServer((request, response) => {
  const payment = request.headers['payment-signature'] as string | undefined
  const { method, headers } = request
  requests.push({ method, payment, isPaid: payment !== undefined || 'authorization' in headers })
  if (request.url === permissionPath) return void response.end(served)
  response.writeHead(402, { 'payment-required': header, 'cache-control': 'no-store' }).end()
})
const isLinux = process.platform === 'linux'
if (isLinux) await new Promise<void>((resolve) => server.listen(0, elsewhere, resolve))
afterAll(() => void server.close())
beforeEach(() => {
  requests = []
  served = ''
})

const checked = async (more: { only?: string } = {}): Promise<Report> => {
  const url = `http://${elsewhere}:${(server.address() as AddressInfo).port}/paid`
  return (await checkCommand({ url, account, nonce, cap: '1', realMoney: '1', ...more })).report
}
const checkedLevels = ({ cases }: Report) =>
  [...new Set(cases.filter(({ verdict }) => verdict !== 'skipped').map(({ level }) => level))].sort()

test.skipIf(!isLinux)('a public host gets L1 and the reading part of L5, and nothing is signed', async () => {
  const report = await checked({ only: 'L1,L2,L3,L4,digest,receipt,identifier-replay,answer-signature,mpp-receipt' })
  expect(checkedLevels(report)).toEqual(['L1'])
  expect(report.signatures).toEqual([])
  // What L1 sends as a payment is none.
  for (const { payment = '' } of requests)
    expect(Buffer.from(payment, 'base64').toString()).not.toContain('"authorization"')
  expect(report.cases.find(({ id }) => id === 'copies-at-once')?.seen).toContain(permissionPath)
  expect(report.cases.find(({ id }) => id === 'limits')?.seen).toContain('this machine')
})

test.skipIf(!isLinux)(
  'the nonce of another run opens nothing; its own opens what pays, never floods or crashes',
  async () => {
    const only = 'copies-at-once,copies-on-one-connection,underpay,clean,crash'
    served = 'cd'.repeat(16)
    expect(checkedLevels(await checked({ only }))).toEqual([])
    served = `\n${nonce}\n`
    const report = await checked({ only })
    expect(checkedLevels(report)).toEqual(['L2', 'L3'])
    const seenOf = (id: string) => report.cases.find((one) => one.id === id)?.seen
    for (const id of ['copies-on-one-connection', 'clean', 'crash']) expect(seenOf(id)).toContain('this machine')
    const copies = new Map<string, number>()
    for (const { payment } of requests) if (payment) copies.set(payment, (copies.get(payment) ?? 0) + 1)
    expect(Math.max(...copies.values())).toBeLessThanOrEqual(50)
    expect(report.signatures).toHaveLength(copies.size)
  },
)
