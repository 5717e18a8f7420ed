/** A number on a command line. One that is none would run nothing, and report that all of it held. */
export function wholeNumber(name: string, given: string, lowest: number): number {
  const number = Number(given)
  if (!Number.isSafeInteger(number) || number < lowest)
    throw new Error(`--${name} takes a whole number from ${lowest} on, not ${given}`)
  return number
}
