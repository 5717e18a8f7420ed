import { afterAll, expect, test } from 'vitest'
import { serveWitness } from '../packages/cli/src/citations/run-witness.ts'
import { createOutsideWitness } from '../packages/node/src/tlog/restored-log.fixture.ts'
import { noteKey, signatureTypes } from '../packages/protocol/src/log/signed-note.ts'
import { systemRng } from '../packages/till/src/kernel/random.ts'
import { generateSigningKey } from '../packages/till/src/signing/index.ts'
import type { LogView } from './harness/restored-node.ts'
import { openTill } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'

/** Like one that has to read the statements about a new key first: while the node starts there is nobody to ask. */
const another = noteKey('another.example', signatureTypes.ed25519, generateSigningKey(systemRng).x)
let known: string[] = [another.vkey]
const witness = createOutsideWitness(
  'witness.example/late',
  () => known,
  async () => [],
)
const skipped: string[] = []

const served = await serveWitness(witness, { host: '127.0.0.1', port: 0 })
const till = await openTill({
  ownShops: ['account', 'sandbox', 'log'],
  env: { TLOG: JSON.stringify({ witnesses: [{ url: served.url, key: witness.key.vkey }] }) },
  intercept: {
    // Every half a minute, which is late.
    job: (name, round) => {
      if (name !== 'log.outside') return round
      skipped.push(name)
      return async () => {}
    },
  },
})
afterAll(async () => {
  await till.close()
  await served.close()
})

const log = async () => (await (await fetch(`${till.node.url}/v1/log`)).json()) as LogView

test('a witness that does not know the key of the log yet is asked again soon, and the log then goes on', async () => {
  expect(skipped).toEqual(['log.outside'])
  const { keys, stopped } = await log()
  expect(stopped?.reason).toBe('unconfirmed')
  known = keys
  await until('the log is open', async () => ((await log()).state === 'open' ? true : undefined))
})
