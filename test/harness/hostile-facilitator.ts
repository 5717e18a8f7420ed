import { type HostilePorts, hostileSettle } from '../../packages/conformance/src/facilitator/index.ts'
import { toHex } from '../../packages/protocol/src/bytes.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'
import type { Rng } from '../../packages/till/src/kernel/random.ts'

/** A real facilitator behind one that errs, stalls and lies as planned. */
export const hostileFacilitator = (real: Facilitator, ports: HostilePorts & { rng: Rng }): Facilitator => ({
  ...real,
  settle: hostileSettle<Parameters<Facilitator['settle']>[0]>((...call) => real.settle(...call), {
    ...ports,
    randomHash: () => toHex(ports.rng.bytes(32)),
  }),
})
