type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** A typed array that doubles when it is full. */
export function createGrowing<Kind extends Numbers>(kind: new (length: number) => Kind) {
  let values = new kind(1_024)
  let length = 0
  return {
    length: () => length,
    at: (index: number) => values[index] as number,
    set: (index: number, value: number) => {
      values[index] = value
    },
    push: (value: number) => {
      if (length === values.length) {
        const wider = new kind(length * 2)
        wider.set(values as never)
        values = wider
      }
      values[length] = value
      length += 1
    },
    view: (): Kind => values.slice(0, length) as Kind,
  }
}
