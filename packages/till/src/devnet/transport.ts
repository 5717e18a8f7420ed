import { type CustomTransport, custom } from 'viem'
import type { Devnet } from './start-devnet.ts'

/** Lets viem talk to a chain in the same process without a socket between. */
export function devnetTransport(devnet: Pick<Devnet, 'request'>): CustomTransport {
  return custom(
    {
      request: ({ method, params }: { method: string; params?: readonly unknown[] }) =>
        devnet.request(method, params ?? []),
    },
    // A retry would hide the very faults tests arm.
    { retryCount: 0 },
  )
}
