import { networkInterfaces } from 'node:os'
import { isGlobalUnicast } from './global-address.ts'

/** Public addresses of this machine. Behind a translator there are none, and its address is the operator's to name. */
export function publicAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map(({ address }) => address).filter(isGlobalUnicast),
  )
}
