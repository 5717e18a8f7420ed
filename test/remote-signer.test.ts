import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:https'
import { afterAll, describe, expect, test } from 'vitest'
import { openSigningKeyPlaces } from '../packages/node/src/compose/wallet-keys.ts'
import { makeCertificate } from '../packages/node/src/outbound/certificate.fixture.ts'
import { knownNetworks, multicall3Address, type Network } from '../packages/till/src/chain/network.ts'
import { createWalletKey, type SigningRequest, signerOf } from '../packages/till/src/chain/wallet/index.ts'
import { demoAccount, demoUsdcAddress } from '../packages/till/src/devnet/accounts.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { systemClock } from '../packages/till/src/kernel/clock.ts'
import { silentLog } from '../packages/till/src/kernel/log.ts'
import type { Metrics } from '../packages/till/src/kernel/metrics.ts'
import { onLoopback } from '../packages/till/src/kernel/on-loopback.fixture.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { createCustodyKey } from '../packages/till/src/payouts/index.ts'
import {
  openRemoteSigner,
  openSigningKeys,
  type SignerConnection,
  signerExchange,
} from '../packages/till/src/signer/index.ts'
import { parseKeyFile } from '../packages/till/src/signing/key-file.ts'
import { createPrivateKeyStore } from '../packages/till/src/signing/private-keys.ts'
import { startProductionNode } from './harness/production-node.ts'
import { startSignerProcess } from './harness/signer-process.ts'
import { startChain } from './harness/start-chain.ts'
import { buy, echoPath } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

const [real] = knownNetworks as [Network]
const base: Network = { ...real, usdc: { ...real.usdc, address: demoUsdcAddress(8453) } }
const settlerKey = demoAccount('settler').privateKey
const custodyKey = demoAccount('custody').privateKey
const targetsOn = (chainId: number) => [demoUsdcAddress(chainId), multicall3Address]

let alarms: string[] = []
const metrics: Metrics = {
  count: (_name, labels) => void alarms.push(labels?.alarm ?? ''),
  gauge: () => {},
  observeMs: () => {},
}
const connect = (connection: SignerConnection) =>
  openRemoteSigner({ exchange: signerExchange(connection), clock: systemClock, log: silentLog, metrics })

const signer = await startSignerProcess([
  {
    key: settlerKey,
    use: 'settler',
    targets: { 8453: targetsOn(8453), 137: targetsOn(137) },
    wei_per_transaction_max: (10n ** 18n).toString(),
    wei_per_day_max: (10n ** 20n).toString(),
  },
  {
    key: custodyKey,
    use: 'custody',
    assets: { 8453: demoUsdcAddress(8453) },
    micro_per_transfer_max: '1000',
    micro_per_day_max: '2500',
  },
])
afterAll(() => signer.close())

describe('a node whose wallets are at a signer', () => {
  const till = useTill({ ownShops: 'till' })

  test('sells, waits while the signer is dead, loses and doubles nothing, and goes on when it is back', async () => {
    const node = await till.startAnother({ env: signer.env })
    const buyer = await till.newBuyer()
    expect((await buy(buyer, `${node.url}${echoPath}?message=before`)).status).toBe(200)
    await signer.kill()
    const during = await buy(buyer, `${node.url}${echoPath}?message=during`)
    expect([during.status, await during.json()]).toMatchObject([503, { code: 'settlement_unavailable' }])
    expect((await fetch(`${node.url}/livez`)).status).toBe(200)
    await signer.restart()
    const after = await until('the signer is asked again', async () => {
      const response = await buy(buyer, `${node.url}${echoPath}?message=during`)
      return response.status === 200 && response
    })
    expect(await after.json()).toMatchObject({ echo: 'during' })
    const { rows } = await till.db.database.query<{ state: string; count: number }>(
      `select state, count(*)::int as count from payment where state in ('served', 'unknown', 'settling', 'settled') group by state`,
    )
    expect(rows).toEqual([{ state: 'served', count: 2 }])
    const transfers = await till.db.database.query<{ count: number }>(`select count(*)::int as count from transfer`)
    expect(transfers.rows[0]?.count).toBeLessThanOrEqual(2)
  })

  test('does not start without it', async () => {
    await expect(till.startAnother({ env: { ...signer.env, SIGNER_URL: 'https://localhost:1' } })).rejects.toThrow(
      'SIGNER_URL: the signer does not answer',
    )
  })
})

const transaction = (changes: object = {}): SigningRequest => ({
  kind: 'transaction',
  transaction: {
    ...{ chainId: 8453, nonce: 0n, gasLimit: 100_000n, to: demoUsdcAddress(8453), value: 0n, data: '0x' },
    ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
    ...changes,
  },
})
const transfer = (value: bigint, nonce: number, from = demoAccount('custody').address) => ({
  from: from.toLowerCase() as `0x${string}`,
  to: `0x${'12'.repeat(20)}` as const,
  value,
  validAfter: 0n,
  validBefore: 4_000_000_000n,
  nonce: `0x${nonce.toString(16).padStart(64, '0')}` as const,
})

test('signatures are those of the key, and nothing outside the rules of a key is signed', async () => {
  const remote = await connect(signer.connection)
  const [settler] = remote.wallets('settler')
  const [custody] = remote.wallets('custody')
  if (!settler || !custody) throw new Error('the signer holds two keys')
  const request = transaction()
  if (request.kind !== 'transaction') throw new Error('a transaction')
  expect(await createWalletKey(settler).sign(request.transaction)).toEqual(
    await createWalletKey(settlerKey).sign(request.transaction),
  )
  const refusals: [() => Promise<unknown>, string][] = [
    [() => settler.sign(transaction({ to: `0x${'34'.repeat(20)}` })), 'target'],
    [() => settler.sign(transaction({ chainId: 1 })), 'chain'],
    [() => settler.sign(transaction({ value: 1n })), 'value'],
    [() => settler.sign(transaction({ maxFeePerGas: 10n ** 15n })), 'limit'],
    [() => custody.sign(transaction()), 'use'],
    [() => createCustodyKey(settler).authorize(base, transfer(1n, 1)), 'use'],
    [() => createCustodyKey(custody).authorize(base, transfer(1_001n, 1)), 'limit'],
    [() => createCustodyKey(custody).authorize(base, transfer(1n, 1, `0x${'56'.repeat(20)}`)), 'from'],
    [() => createCustodyKey(custody).authorize(real, transfer(1n, 1)), 'asset'],
  ]
  for (const [asked, code] of refusals) await expect(asked(), code).rejects.toThrow(new RegExp(`^${code}: `))
})

test('the limit of a day holds through a kill, and what was asked before is not counted again', async () => {
  const custodyOf = async () => createCustodyKey((await connect(signer.connection)).wallets('custody')[0] as never)
  const first = await (await custodyOf()).authorize(base, transfer(1_000n, 1))
  expect(first).toBe(await createCustodyKey(custodyKey).authorize(base, transfer(1_000n, 1)))
  await (await custodyOf()).authorize(base, transfer(1_000n, 2))
  await signer.restart()
  const custody = await custodyOf()
  expect(await custody.authorize(base, transfer(1_000n, 1))).toBe(first)
  await expect(custody.authorize(base, transfer(501n, 3))).rejects.toThrow('daily_limit')
  await custody.authorize(base, transfer(500n, 4))
  await expect(custody.authorize(base, transfer(1n, 5))).rejects.toThrow('daily_limit')
})

test('a certificate of another authority, and none at all, are turned away, and so is a server that is not the signer', async () => {
  const stranger = makeCertificate({ name: 'stranger', authority: true })
  const forged = makeCertificate({ name: 'node.test', issuer: stranger })
  const { connection } = signer
  await expect(connect({ ...connection, cert: forged.pem, key: forged.key })).rejects.toThrow('does not answer')
  await expect(connect({ ...connection, cert: '', key: '' })).rejects.toThrow('does not answer')
  await expect(connect({ ...connection, ca: stranger.pem })).rejects.toThrow('does not answer')
  await connect(connection)
})

test('a signature of another key, or over something else, is found out before it is used', async () => {
  const authority = makeCertificate({ name: 'lying authority', authority: true })
  const certificate = makeCertificate({ name: 'localhost', issuer: authority })
  const honest = signerOf(settlerKey)
  let lie: (asked: SigningRequest) => Promise<{ signature: Uint8Array; recoveryId: number }> = (asked) =>
    honest.sign(asked)
  const server = createServer({ cert: certificate.pem, key: certificate.key }, async (request, response) => {
    if (request.method === 'GET')
      return response.end(JSON.stringify({ keys: [{ address: honest.address, use: 'settler' }] }))
    const { signature, recoveryId } = await lie(transaction())
    response.end(JSON.stringify({ signature: Buffer.from(signature).toString('hex'), recovery_id: recoveryId }))
  })
  const { port, close } = await onLoopback(server)
  const url = `https://localhost:${port}`
  try {
    alarms = []
    const [wallet] = (await connect({ url, ca: authority.pem, cert: '', key: '' })).wallets('settler')
    await wallet?.sign(transaction())
    await expect(wallet?.sign(transaction({ nonce: 1n }))).rejects.toThrow('wrong signature')
    lie = (asked) => signerOf(custodyKey).sign(asked)
    await expect(wallet?.sign(transaction())).rejects.toThrow('wrong signature')
    expect(alarms).toEqual(['signer_wrong_signature', 'signer_wrong_signature'])
  } finally {
    await close()
  }
})

describe('keys for answers and for the log at a signer', () => {
  const pem = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const [answers, next, log] = [pem(), pem(), pem()]
  const idOf = (text: string) => parseKeyFile(text)[0]?.keyId
  const rules = [
    { key: answers, use: 'response', signatures_per_minute_max: 20 },
    { key: log, use: 'log', signatures_per_minute_max: 1 },
  ]
  let aheadMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
  const deps = { clock, log: silentLog, metrics }

  test('sign like the same keys in a file, within their limits, and nothing is signed while the signer is dead', async () => {
    const held = await startSignerProcess(rules)
    const keys = openSigningKeys(held.connection, deps)
    try {
      const [key] = await keys.load('response')
      const bytes = Buffer.from('an answer')
      expect(key?.keyId).toBe(idOf(answers))
      expect(key?.sign(bytes)).toEqual(parseKeyFile(answers)[0]?.sign(bytes))
      const [ofLog] = await keys.load('log')
      ofLog?.sign(bytes)
      expect(() => ofLog?.sign(bytes)).toThrow('HTTP 403')
      await held.kill()
      aheadMs += 1_100
      expect(() => key?.sign(bytes)).toThrow()
      expect(() => key?.sign(bytes)).toThrow('asked again soon')
      await held.restart()
      const again = await until('the signer is asked again', async () => {
        try {
          return key?.sign(bytes)
        } catch {
          return undefined
        }
      })
      expect(again).toEqual(parseKeyFile(answers)[0]?.sign(bytes))
    } finally {
      await keys.close()
      await held.close()
    }
  })

  test('a production node has neither key file, signs what it answers, and rotates to a key that was added', async () => {
    const held = await startSignerProcess([
      ...rules.map((rule) => ({ ...rule, signatures_per_minute_max: 10_000 })),
      { key: next, use: 'response', signatures_per_minute_max: 10_000 },
    ])
    const ports = { port: 0, clock: systemClock, log: silentLog }
    const chains: [Devnet, Devnet] = [
      await startChain({ chainId: 8453, ...ports }),
      await startChain({ chainId: 137, ...ports }),
    ]
    const none = {
      SIGNING_KEY_FILE: '',
      LOG_KEY_FILE: '',
      SETTLER_KEYS: '',
      CUSTODY_KEYS: '',
      FACILITATOR: 'https://f.test',
    }
    const node = await startProductionNode(chains, { env: { ...held.env, ...none } })
    try {
      const response = await fetch(`${node.address}/livez`)
      expect(response.headers.get('signature-input')).toContain(idOf(next))
      const places = await openSigningKeyPlaces(
        { mode: 'production', signingKeyFile: undefined, logKeyFile: undefined, signer: held.connection },
        deps,
      )
      const store = createPrivateKeyStore(
        { query: async () => ({ rows: [{ n: 0n }] }) } as never,
        places.signingKeyFile,
      )
      expect((await store.next(systemRng, (keyId) => keyId === idOf(next))).keyId).toBe(idOf(answers))
      await expect(store.next(systemRng, () => true)).rejects.toThrow('add one to its configuration')
      await places.close()
    } finally {
      await node.stop()
      await held.close()
      for (const chain of chains) await chain.stop()
    }
  })
})
