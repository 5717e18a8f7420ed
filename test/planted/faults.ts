import type { PlantedFault } from './plant.ts'

const node = 'packages/node/src'

/** Faults that were found in the till, or could have been, each with the proof that has to find it. */
export const plannedFaults: readonly PlantedFault[] = [
  {
    name: 'exposure cap removed',
    file: `${node}/payments/exposure.ts`,
    fn: 'admit',
    find: 'afterMicro > capMicro',
    replace: 'false',
    proof: { file: `${node}/payments/exposure.db.test.ts`, test: 'exposure cap removed' },
  },
  {
    name: 'fresh wallets use the whole cap',
    file: `${node}/payments/exposure.ts`,
    fn: 'admit',
    find: 'afterMicro > capMicro / 2n && !(await hasPaidBefore(sql, sale.payer))',
    replace: 'false',
    proof: { file: `${node}/payments/exposure.db.test.ts`, test: '1,000 fresh wallets' },
  },
  {
    name: 'log position ignored',
    file: `${node}/ledger/transfers.ts`,
    fn: 'takeTransfers',
    find: 'taken.map(({ money }) => money.position)',
    replace: 'taken.map(() => 0)',
    proof: { file: `${node}/ledger/transfers.db.test.ts`, test: 'log position ignored' },
  },
  {
    name: 'offers honoured for any request',
    file: `${node}/payments/match-terms.ts`,
    fn: 'withAmount',
    find: 'offer.request === offeredRequest(call)',
    replace: 'true',
    proof: { file: 'test/attack-offers.test.ts', test: 'a signed offer for one method is no offer for another' },
  },
  {
    name: 'refusal believed without simulation',
    file: `${node}/payments/refusal-causes.ts`,
    fn: 'simulationConfirms',
    find: "simulated.status !== 'fails'",
    replace: 'false',
    proof: { file: `${node}/payments/settle-payment.test.ts`, test: 'a refusal of a payload that left' },
  },
  {
    name: 'claim without its unique key',
    file: `${node}/payments/store-claim.ts`,
    fn: 'insertClaims',
    find: 'claims.map((claim) => fromHex(claim.nonce))',
    replace: 'claims.map(() => crypto.getRandomValues(Buffer.alloc(32)))',
    proof: { file: 'test/payment-attacks.test.ts', test: 'A2: two hundred copies' },
  },
]
