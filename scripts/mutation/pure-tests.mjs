import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const isPure = (name) => /\.test\.ts$/.test(name) && !/\.(db|chain|browser)\.test\.ts$/.test(name)

/** Tests with examples first: they are quick, and what they notice no random test has to. */
const bySpeed = (a, b) => Number(a.includes('.fuzz.')) - Number(b.includes('.fuzz.'))

/** The pure tests of files and of folders, without those in folders below. */
export function pureTestsIn(places) {
  return places
    .flatMap((place) =>
      statSync(place).isDirectory()
        ? readdirSync(place)
            .filter(isPure)
            .map((name) => join(place, name))
        : [place],
    )
    .sort(bySpeed)
}
