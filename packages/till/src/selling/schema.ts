/** zod, valibot, arktype: anything of the Standard Schema interface (standardschema.dev), whose types these are. */
export type Schema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export type SchemaIssue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type TypesOf<S extends Schema> = NonNullable<S['~standard']['types']>

/** What a handler gets of a part of its input; undefined where the part is not declared. */
export type OutputOf<S extends Schema | undefined> = S extends Schema ? TypesOf<S>['output'] : undefined
/** What a handler may give for an output. */
export type InputOf<S extends Schema | undefined> = S extends Schema ? TypesOf<S>['input'] : unknown

export type Checked = { value: unknown } | { issues: readonly SchemaIssue[] }

/** Undefined when a rule of the schema throws: whatever it stumbled over was written by the caller. */
export function checkSchema(schema: Schema, value: unknown): Checked | undefined | Promise<Checked | undefined> {
  try {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(asChecked, () => undefined) : asChecked(result)
  } catch {
    return undefined
  }
}

const asChecked = (result: SchemaResult<unknown>): Checked =>
  result.issues === undefined ? { value: result.value } : { issues: result.issues }
