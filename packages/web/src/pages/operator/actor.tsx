import { Hex } from '../../ui/parts.tsx'

/** Who did something: `operator 0x…`, a login of the database, or the node itself. */
export function Actor({ name }: { name: string }) {
  const [, role = name, address] = /^(.*?)(0x[0-9a-fA-F]{40})?$/.exec(name) ?? []
  return (
    <>
      {role}
      {address === undefined ? null : <Hex value={address} />}
    </>
  )
}
