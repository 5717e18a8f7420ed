/** What must never come of a death: an answer, an effect or money that is gone, or one that is there twice. */
export class Broken extends Error {
  readonly how: 'lost' | 'doubled'

  constructor(how: 'lost' | 'doubled', what: string) {
    super(what)
    this.name = how
    this.how = how
  }
}

/** Exactly as much as it should be: less is lost, more is doubled. */
export function requireExactly(what: string, seen: bigint | number, wanted: bigint | number): void {
  if (BigInt(seen) === BigInt(wanted)) return
  throw new Broken(BigInt(seen) < BigInt(wanted) ? 'lost' : 'doubled', `${what}: ${seen} instead of ${wanted}`)
}
