import { expect, test } from 'vitest'
import { useTill } from './harness/use-till.ts'
import { rotateAndVerify } from './promises/rotate.ts'

/** The promise `rotate` at a size for every day. */
const till = useTill({ ownShops: ['account', 'sandbox', 'log', 'sources', 'attestations', 'royalties'] })

test('an attestation verifies offline after its key was lost and both were rotated', async () => {
  expect((await rotateAndVerify(till, { count: 2, say: () => {} })).faults).toEqual([])
}, 240_000)
