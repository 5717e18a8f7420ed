import { setTimeout as sleep } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { statementLog } from '../../packages/node/src/tlog/index.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type AssayClient, createAssayClient, readDemoNetworks } from '../../packages/sdk/src/index.ts'
import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createKeyring, rotateKey } from '../../packages/till/src/signing/index.ts'
import { createFaults, createProgress, type Faults, type Proof, type ProofOptions, plain } from './proof.ts'
import { openProofNode, type ProofNode, proofPath } from './proof-node.ts'

const clientCount = 8
const rotations = 6

/** Keys change under load, in two processes, and no client that checks every answer notices; `count` is answers. */
export const proveRotation: Proof = async (options) => {
  const proofNode = await openProofNode({ ownShops: 'till' })
  try {
    const second = await proofNode.till.startAnother({
      shops: proofNode.shops,
      jobs: false,
      env: { BASE_URL: proofNode.till.node.url },
    })
    return await rotateUnderLoad(proofNode, second.address, options)
  } finally {
    await proofNode.till.close()
  }
}

type Tally = { verified: number; bought: number; keys: Set<string> }

export async function rotateUnderLoad({ till }: ProofNode, secondAddress: string, { count, say }: ProofOptions) {
  const faults = createFaults()
  const tally: Tally = { verified: 0, bought: 0, keys: new Set() }
  const networks = await readDemoNetworks(till.node.url)
  const clients = await Promise.all(
    Array.from({ length: clientCount }, async (_, index) =>
      createAssayClient({
        account: await till.newBuyer(),
        baseUrl: index % 2 === 0 ? till.node.url : secondAddress,
        networks,
        maxPerCallUsd: '0.01',
        verify: 'require',
      }),
    ),
  )
  let done = false
  const turning = keepRotating(till.node.url, till.db.database, () => done, say)
  const progress = createProgress(say, count, 'answers verified')
  await Promise.all(
    clients.map(async (client, index) => {
      for (let turn = 0; tally.verified < count || !turning.ended(); turn += 1) {
        // What is sold bears the name of the first: a client of the second, which has another, buys nothing there.
        const paid = index % 2 === 0 && turn % 25 === 0
        await askOnce(client, `${index}-${turn}`, paid, tally, faults)
        progress(tally.verified)
      }
    }),
  )
  done = true
  const turned = await turning.finished
  if (tally.keys.size < turned) faults.note(`only ${tally.keys.size} keys were seen to sign`)
  return {
    seen: `${faults.count()} failed verifications of ${plain(tally.verified)} answers (${plain(tally.bought)} of them paid) by ${clientCount} clients over ${turned} rotations in 2 processes; ${tally.keys.size} keys signed`,
    faults: faults.all(),
  }
}

async function askOnce(client: AssayClient, of: string, paid: boolean, tally: Tally, faults: Faults): Promise<void> {
  try {
    const { verified } = await client.fetch(paid ? `${proofPath}?of=${of}` : `/nowhere-${of}`)
    if (verified.status !== 'verified') return faults.note(`${of}: ${JSON.stringify(verified)}`)
    tally.verified += 1
    if (paid) tally.bought += 1
    tally.keys.add(verified.keyId)
  } catch (error) {
    faults.note(`${of}: ${String(error)}`)
  }
}

/** As `assay keys rotate` does it, only with seconds between publishing a key and using it. */
function keepRotating(
  node: string,
  database: Parameters<typeof createKeyring>[0]['database'],
  isOver: () => boolean,
  say: (text: string) => void,
) {
  let ended = false
  const finished = (async () => {
    const ports = { database, clock: systemClock, rng: systemRng }
    const keyring = await createKeyring({ ...ports, log: silentLog })
    const operator = demoAccount('operator')
    const account = privateKeyToAccount(operator.privateKey)
    const address = operator.address.toLowerCase() as Address
    let turns = 0
    try {
      for (; turns < rotations && !isOver(); turns += 1) {
        const { keyId, activatesAtMs } = await rotateKey(
          {
            ...ports,
            keyring,
            identity: { node, api: node, chainId: 8453, operator: address },
            wallet: { address, signTypedData: (data) => account.signTypedData(data) },
            statementLog,
          },
          { overlapMs: 2_000 },
        )
        say(`  ${keyId} was published`)
        await sleep(activatesAtMs - Date.now() + 1_500)
      }
    } finally {
      await keyring.close()
      ended = true
    }
    return turns
  })()
  return { finished, ended: () => ended }
}
