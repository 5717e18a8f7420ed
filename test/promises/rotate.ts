import { privateKeyToAccount } from 'viem/accounts'
import { statementLog } from '../../packages/node/src/tlog/index.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import {
  type CitationAttestation,
  parseAttestation,
  parseVerifyPolicy,
  verifyAttestation,
  witnessesOf,
} from '../../packages/sdk/src/index.ts'
import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createKeyring, type Keyring, revokeKey, rotateKey } from '../../packages/till/src/signing/index.ts'
import { buy, openTill, type TillFixture } from '../harness/till-fixture.ts'
import { until } from '../harness/until.ts'
import { createFaults, type Faults, type Proof, type ProofOptions } from './proof.ts'

/** Both keys rotate again and again, one is lost, and every attestation verifies offline; `count` is rotations of each. */
export const proveRotate: Proof = async (options) => {
  const till = await openTill()
  try {
    return await rotateAndVerify(till, options)
  } finally {
    await till.close()
  }
}

export async function rotateAndVerify(till: TillFixture, { count, say }: ProofOptions) {
  const faults = createFaults()
  const ports = { database: till.db.database, clock: systemClock, rng: systemRng, log: silentLog }
  const answers = await createKeyring(ports)
  const log = await createKeyring({ ...ports, purpose: 'log' })
  const first = answers.keys()[0]?.x ?? ''
  const firstLog = log.keys()[0]?.x ?? ''
  const saved: CitationAttestation[] = []
  const lost = Math.floor(count / 2)
  try {
    saved.push(await boughtAndWitnessed(till))
    for (let n = 0; n < count; n += 1) {
      if (n === lost) await loseKey(till, answers)
      else await changeKey(till, answers)
      saved.push(await boughtAndWitnessed(till))
      await changeKey(till, log)
      saved.push(await boughtAndWitnessed(till))
      say(`  ${n + 1} rotations of each key, ${saved.length} attestations`)
    }
  } finally {
    await Promise.all([answers.close(), log.close()])
  }
  const trusts = [
    { trustWallets: [demoAccount('operator').address] },
    // The lost key could name nobody: the wallet that an earlier one named did.
    { trustKeys: [first] },
    { trustKeys: [first, firstLog] },
  ]
  let checked = 0
  for (const early of saved) {
    const late = await readAgain(till, early)
    for (const file of [early, late])
      for (const trust of file === early ? trusts.slice(1) : trusts) {
        // What was saved before the first rotation has no word of the wallet yet.
        await verifyOne(file, trust, faults)
        checked += 1
      }
  }
  const { keys, logs } = signersOf(saved)
  if (keys < count || logs < count + 1) faults.note(`only ${keys} keys and ${logs} keys of the log signed`)
  return {
    seen: `${checked} verifications of ${saved.length} attestations offline, signed by ${keys} keys and ${logs} keys of the log, one key lost: ${faults.count()} failed`,
    faults: faults.all(),
  }
}

async function verifyOne(file: CitationAttestation, trust: object, faults: Faults): Promise<void> {
  const witnesses = file.log.witness_keys ?? []
  const policy = parseVerifyPolicy('witnesses=2of2,key-valid')
  const { ok, checks } = await verifyAttestation(file, { ...trust, witnesses, policy })
  if (!ok)
    faults.note(`${file.id} ${JSON.stringify(trust)}: ${JSON.stringify(checks.filter((c) => c.status === 'failed'))}`)
}

const signersOf = (saved: readonly CitationAttestation[]) => ({
  keys: new Set(saved.map(({ attestation }) => attestation.key_id)).size,
  logs: new Set(saved.flatMap(({ log }) => log.keys ?? [])).size,
})

const operator = demoAccount('operator')
const account = privateKeyToAccount(operator.privateKey)

export const changeDeps = (till: TillFixture, keyring: Keyring) => {
  const address = operator.address.toLowerCase() as Address
  return {
    database: till.db.database,
    clock: systemClock,
    rng: systemRng,
    keyring,
    identity: { node: till.node.url, api: till.node.url, chainId: 8453, operator: address },
    wallet: {
      address,
      signTypedData: (data: Parameters<typeof account.signTypedData>[0]) => account.signTypedData(data),
    },
    statementLog,
  }
}

/** As the commands do it, only with a second of overlap. The old key has stopped signing when this is over. */
async function changeKey(till: TillFixture, keyring: Keyring): Promise<void> {
  const { keyId } = await rotateKey(changeDeps(till, keyring), { overlapMs: 1_000 })
  // Keys of the log sign side by side for the overlap; of the others one is in use.
  if (keyring.purpose === 'log')
    await until('the old key of the log has retired', () => keyring.signers().every((key) => key.keyId === keyId))
  else await nodeSignsWith(till, keyId)
}

async function nodeSignsWith(till: TillFixture, keyId: string): Promise<void> {
  await until(`the node signs with ${keyId}`, async () => {
    const response = await fetch(till.node.url, { headers: { accept: 'application/json' } })
    return ((await response.json()) as { keys: { key_id: string } }).keys.key_id === keyId
  })
}

async function loseKey(till: TillFixture, keyring: Keyring): Promise<void> {
  // What was seen in this second is older than the loss, which is dated a second back.
  const seenSecond = Math.floor(Date.now() / 1_000)
  await until('the second after the next', () => Math.floor(Date.now() / 1_000) >= seenSecond + 2)
  const lost = { keyId: keyring.active().keyId, revokedAtMs: Date.now() - 1_000 }
  const { activeKeyId } = await revokeKey(changeDeps(till, keyring), lost)
  await nodeSignsWith(till, activeKeyId)
}

export async function boughtAndWitnessed(till: TillFixture): Promise<CitationAttestation> {
  const { rows } = await till.db.database.query<{ url: string }>(
    `select v.url from page_version v join source s on s.domain = v.domain where s.state = 'proven' order by v.url limit 1`,
  )
  const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
  const body = JSON.stringify({ source_url: rows[0]?.url, agent_wallet: buyer.address })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const bought = parseAttestation(await (await buy(buyer, `${till.node.url}/v1/cite/attest`, {}, init)).json())
  if (!bought) throw new Error('not an attestation')
  return until('both witnesses have signed', async () => {
    const file = await readAgain(till, bought)
    return witnessesOf(file) === 2 && file
  })
}

async function readAgain(till: TillFixture, { id }: CitationAttestation): Promise<CitationAttestation> {
  const file = parseAttestation(await (await fetch(`${till.node.url}/v1/attestations/${id}`)).json())
  if (!file) throw new Error('not an attestation')
  return file
}
