import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRng } from '../kernel/random.ts'
import { claimNonce } from '../store/nonce-claims.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { createAuthChallenge } from './create-auth-challenge.ts'
import { createNonceIssuer } from './nonces.ts'
import type { ProofDeps } from './proof-deps.ts'
import { loadSharedSecret } from './shared-secret.ts'
import { verifySiwx } from './verify-siwx.ts'

const origin = 'http://127.0.0.1:4020'
const wallet = privateKeyToAccount(`0x${'0c'.repeat(32)}`)
const db = await useTestDatabase({ poolSize: 4 })

/** As one process of the node would have it. */
async function processDeps(): Promise<ProofDeps> {
  const secret = await loadSharedSecret(db.database, 'challenge_nonces', systemRng)
  return {
    clock: systemClock,
    nonces: createNonceIssuer({ secret, clock: systemClock, rng: systemRng }),
    claimNonce: (claim) => claimNonce(db.database, claim),
    checkContractSignature: async () => 'invalid',
    chainIds: [8453],
  }
}

test('a challenge of one process is good at another, and of copies sent to both at once one is accepted', async () => {
  const [here, there] = await Promise.all([processDeps(), processDeps()])
  const account = { chainId: 8453, address: wallet.address.toLowerCase() as `0x${string}` }
  const { info, message = '' } = createAuthChallenge(here, { origin, account })
  const signature = await wallet.signMessage({ message })
  const fields = { ...info, address: wallet.address, chainId: 'eip155:8453', type: 'eip191', signature }
  const header = Buffer.from(JSON.stringify(fields)).toString('base64')
  const outcomes = await Promise.allSettled([here, there, here, there].map((deps) => verifySiwx(deps, header, origin)))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
})
