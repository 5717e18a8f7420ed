/**
 * Inner products of all pairs of short vectors of bytes, sixteen bytes at a time: comparing candidates with each other was a
 * third of a search. JavaScript has no such instruction, WebAssembly does, on every processor that runs it; elsewhere
 * a plain loop gives the same numbers.
 */
export type InnerProducts = {
  /** Where the vectors go, one after the other, each filled up with zeros to `stride`. */
  vectors: Int8Array
  stride: number
  /** The product of vectors a and b, a <= b, is at [a * count + b]. */
  multiply(count: number): Int32Array
}

const vectorBytes = 16

/** The part of it that is used here; the types of the runtime leave it to those of browsers. */
type Compiled = object
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: {
    Module: new (bytes: Uint8Array) => Compiled
    Instance: new (compiled: Compiled) => { exports: object }
  }
}
type Memory = { readonly buffer: ArrayBuffer; grow(pages: number): number }
type Multiply = (count: number, stride: number, out: number) => void

export function createInnerProducts(countMax: number, dims: number, compiled = compile()): InnerProducts {
  const stride = Math.ceil(dims / vectorBytes) * vectorBytes
  const outAt = Math.ceil((countMax * stride) / vectorBytes) * vectorBytes
  const bytes = outAt + countMax * countMax * Int32Array.BYTES_PER_ELEMENT
  const instance = compiled && new wasm.Instance(compiled)
  const { memory, multiply } = (instance?.exports ?? {}) as { memory?: Memory; multiply?: Multiply }
  memory?.grow(Math.ceil(bytes / pageBytes))
  const buffer = memory?.buffer ?? new ArrayBuffer(bytes)
  const vectors = new Int8Array(buffer, 0, countMax * stride)
  const products = new Int32Array(buffer, outAt, countMax * countMax)
  return {
    vectors,
    stride,
    multiply: (count) => {
      if (multiply) multiply(count, stride, outAt)
      else multiplyPlainly(vectors, stride, count, products)
      return products
    },
  }
}

const pageBytes = 65_536

function multiplyPlainly(vectors: Int8Array, stride: number, count: number, products: Int32Array): void {
  for (let a = 0; a < count; a += 1)
    for (let b = a; b < count; b += 1) {
      let sum = 0
      for (let at = 0; at < stride; at += 1)
        sum += (vectors[a * stride + at] as number) * (vectors[b * stride + at] as number)
      products[a * count + b] = sum
    }
}

/** Undefined where the processor lacks the instructions. */
export function compile(): Compiled | undefined {
  try {
    return new wasm.Module(new Uint8Array(moduleBytes()))
  } catch {
    return undefined
  }
}

// The names of the WebAssembly text format for the bytes of the binary one.
const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const constant = (value: number) => [0x41, value]
const add = [0x6a]
const times = [0x6c]
const greaterOrEqual = [0x4f]
const end = [0x0b]
const store = [0x36, 2, 0]
const vector = {
  load: [0xfd, 0x00, 0, 0],
  zero: [0xfd, 0x0c, ...new Array<number>(16).fill(0)],
  add: [0xfd, 0xae, 0x01],
  timesLow: [0xfd, 0x9c, 0x01],
  timesHigh: [0xfd, 0x9d, 0x01],
  addPairs: [0xfd, 0x7e],
  element: (at: number) => [0xfd, 0x1b, at],
}

/** for (local = …; local < limit; local += step) body */
const loop = (local: number, from: number[], limit: number, step: number, body: number[]) => [
  ...[...from, ...set(local), 0x02, 0x40, 0x03, 0x40],
  ...[...get(local), ...get(limit), ...greaterOrEqual, 0x0d, 1],
  ...body,
  ...[...get(local), ...constant(step), ...add, ...set(local), 0x0c, 0, ...end, ...end],
]

function moduleBytes(): number[] {
  const [count, stride, out, a, b, at, left, right, sum] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const
  const [bytesLeft, bytesRight] = [9, 10] as const
  const pairs = (half: number[]) => [...get(bytesLeft), ...get(bytesRight), ...half, ...vector.addPairs]
  const inner = [
    ...[...get(left), ...get(at), ...add, ...vector.load, ...set(bytesLeft)],
    ...[...get(right), ...get(at), ...add, ...vector.load, ...set(bytesRight)],
    ...[...get(sum), ...pairs(vector.timesLow), ...vector.add, ...pairs(vector.timesHigh), ...vector.add, ...set(sum)],
  ]
  const element = (index: number) => [...get(sum), ...vector.element(index)]
  const pair = [
    ...[...get(b), ...get(stride), ...times, ...set(right), ...vector.zero, ...set(sum)],
    ...loop(at, constant(0), stride, vectorBytes, inner),
    ...[...get(a), ...get(count), ...times, ...get(b), ...add, ...constant(4), ...times, ...get(out), ...add],
    ...[...element(0), ...element(1), ...add, ...element(2), ...add, ...element(3), ...add, ...store],
  ]
  const row = [...get(a), ...get(stride), ...times, ...set(left), ...loop(b, get(a), count, 1, pair)]
  // Five more numbers and three vectors beside the parameters.
  const locals = [2, 5, 0x7f, 3, 0x7b]
  const code = [...locals, ...loop(a, constant(0), count, 1, row), ...end]
  const text = (name: string) => [name.length, ...Buffer.from(name)]
  return [
    ...[0x00, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, 3, 0x7f, 0x7f, 0x7f, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...text('memory'), 2, 0, ...text('multiply'), 0, 0]),
    ...section(10, [1, ...sized(code)]),
  ]
}

const section = (id: number, content: number[]) => [id, ...sized(content)]
/** Lengths are in seven bits a byte. */
const sized = (content: number[]) => [0x80 | (content.length & 0x7f), content.length >> 7, ...content]
