// agent-hook-suite: OpenCode plugin. Written by its installer, gone with `./install.sh --uninstall`.
//
// OpenCode has no command hooks, so this calls the suite's hooks from its plugin events. A throw in
// `chat.message` would fail the prompt: everything is caught. What has to be remembered about a session
// (start context given? compacted since? whose sub-agent?) is on disk, because a session outlives the process.
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const START = "@session_context.py@"
const PROMPT = "@perturn_recall.py@"
const TOOL = "@worklog_dispatcher.sh@"
const ARGUMENTS = ["--harness", "opencode", "--by=agent-hook-suite"]
const START_MS = 10000
const PROMPT_MS = 15000
const TOOL_MS = 10000
const LARGEST_OUTPUT = 1 << 20
const KEEP_MS = 30 * 24 * 3600 * 1000

// The real path, also of what is not there yet.
const real = (place) => {
  for (let probe = place, rest = ""; ; ) {
    try {
      return path.join(fs.realpathSync(probe), rest)
    } catch {
      const parent = path.dirname(probe)
      if (parent === probe) return place
      rest = path.join(path.basename(probe), rest)
      probe = parent
    }
  }
}

const inside = (place, directory) => `${real(place)}/`.startsWith(`${real(directory).replace(/\/+$/, "")}/`)

// As the hooks see it: a repository's settings can set variables, so one counts only when it leads to a
// directory of this user's own outside of the project.
const own = (place) => {
  for (let probe = place; ; probe = path.dirname(probe)) {
    try {
      const status = fs.statSync(probe)
      const mine = status.uid === process.geteuid?.()
      return status.isDirectory() && (mine || (probe !== place && (status.mode & 0o1000) !== 0))
    } catch (error) {
      if (error?.code !== "ENOENT" || probe === path.dirname(probe)) return false
    }
  }
}

const stateHome = (projects) => {
  const within = (place) => projects.some((project) => inside(place, project))
  const named = process.env.XDG_STATE_HOME
  try {
    if (named && path.isAbsolute(named) && !within(named) && own(path.normalize(named))) return named
    const home = os.homedir()
    return path.join(within(home) ? os.userInfo().homedir : home, ".local", "state")
  } catch {
    return "/nonexistent" // without a home nothing is remembered
  }
}

// What is remembered of sessions in `directory`: {started, due, parent}: start context given; source of a
// start that is due; parent session.
const notesIn = (directory) => {
  const fileOf = (id) => path.join(directory, `${String(id).replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 120)}.json`)

  const read = (id) => {
    try {
      const note = JSON.parse(fs.readFileSync(fileOf(id), "utf8"))
      return note && typeof note === "object" ? note : {}
    } catch {
      return {}
    }
  }

  const write = (id, changes) => {
    const file = fileOf(id)
    const temporary = `${file}.${process.pid}.tmp`
    try {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
      fs.writeFileSync(temporary, JSON.stringify({ ...read(id), ...changes }), { mode: 0o600 })
      fs.renameSync(temporary, file)
    } catch {
      // Without a note the next start is given once more; nothing is lost.
    }
  }

  const remove = (id) => fs.rmSync(fileOf(id), { force: true })

  const forgetOld = () => {
    try {
      for (const name of fs.readdirSync(directory)) {
        const file = path.join(directory, name)
        if (Date.now() - fs.statSync(file).mtimeMs > KEEP_MS) fs.unlinkSync(file)
      }
    } catch {
      // There are none.
    }
  }

  return { read, write, remove, forgetOld }
}

// What a hook prints on stdout, "" when it fails or takes too long; never rejects.
const run = (hook, payload, milliseconds) =>
  new Promise((resolve) => {
    let out = ""
    let timer
    const finish = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    try {
      const child = spawn(hook, ARGUMENTS, { stdio: ["pipe", "pipe", "ignore"] })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        finish("")
      }, milliseconds)
      child.on("error", () => finish(""))
      child.on("close", (code) => finish(code === 0 ? out : ""))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (chunk) => {
        if (out.length < LARGEST_OUTPUT) out += chunk
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      finish("")
    }
  })

const context = (out) => {
  try {
    const value = JSON.parse(out)
    const text = value.additionalContext ?? value.additional_context ?? value.hookSpecificOutput?.additionalContext
    return typeof text === "string" ? text : ""
  } catch {
    return ""
  }
}

// Parts are kept in the order of their ids, which begin with a time: ours come right after the last one.
const partAfter = (parts) => {
  const last = parts.map((part) => /^prt_([0-9a-f]{12})/.exec(part?.id ?? "")?.[1] ?? "").sort().at(-1)
  const stamp = last ? BigInt(`0x${last}`) : BigInt(Date.now()) * 0x1000n
  const tail = Array.from({ length: 14 }, () => "0123456789abcdefghijklmnopqrstuvwxyz"[Math.floor(Math.random() * 36)])
  return `prt_${BigInt.asUintN(48, stamp + 1n).toString(16).padStart(12, "0")}${tail.join("")}`
}

const guarded = (handler) => async (...given) => {
  try {
    await handler(...given)
  } catch {
    // A broken hook never breaks the agent; the hooks keep their own ledger of failures.
  }
}

export const AgentHookSuite = async ({ directory, worktree } = {}) => {
  const cwd = directory || worktree || process.cwd()
  const failedCalls = new Set()
  const met = new Set() // sessions that have prompted in this process
  const afterCompaction = new Map() // session → promise of the context that is due since a compaction
  const projects = [directory, worktree, cwd].filter((place) => place && place !== "/")
  const notes = notesIn(path.join(stateHome(projects), "agent-hook-suite", "opencode"))
  notes.forgetOld()

  const record = (payload, sessionID) => run(TOOL, { ...payload, cwd, parentID: notes.read(sessionID).parent }, TOOL_MS)

  const start = async (id, source) =>
    context(await run(START, { hook_event_name: "SessionStart", session_id: id, source, cwd }, START_MS))

  const startDue = (id, source) => {
    if (source !== "compact") return start(id, source)
    if (!afterCompaction.has(id)) afterCompaction.set(id, start(id, source))
    return afterCompaction.get(id)
  }

  return {
    event: guarded(async ({ event }) => {
      const properties = event?.properties ?? {}
      if (event?.type === "session.created") {
        const parent = properties.info?.parentID
        if (parent) notes.write(properties.info.id, { parent })
      } else if (event?.type === "session.compacted") {
        afterCompaction.delete(properties.sessionID)
        notes.write(properties.sessionID, { due: "compact" })
      } else if (event?.type === "session.deleted") {
        notes.remove(properties.info?.id ?? properties.sessionID)
      } else if (event?.type === "message.part.updated") {
        // A tool that fails has no other event; the part may be updated again afterwards.
        const part = properties.part
        if (part?.type !== "tool" || part.state?.status !== "error" || failedCalls.has(part.callID)) return
        failedCalls.add(part.callID)
        await record({ type: event.type, properties }, part.sessionID)
      }
    }),

    "chat.message": guarded(async (input, output) => {
      const id = input?.sessionID ?? output?.message?.sessionID
      const messageID = output?.message?.id ?? input?.messageID
      if (!id || !messageID || !Array.isArray(output?.parts)) return
      const note = notes.read(id)
      if (note.parent) return // a sub-agent's prompt is not the user's
      // A session that another process started is resumed: it is told what is new since.
      const source = note.due ?? (!note.started ? "startup" : met.has(id) ? "" : "resume")
      const asked = { hook: "chat.message", input, output: { message: output.message, parts: [...output.parts] }, cwd }
      // The recall waits for the start: after a compaction that forgets what was recalled before.
      const texts = source ? [await startDue(id, source)] : []
      texts.push(context(await run(PROMPT, asked, PROMPT_MS)))
      for (const text of texts) {
        if (!text) continue
        output.parts.push({ id: partAfter(output.parts), sessionID: id, messageID, type: "text", text, synthetic: true })
      }
      met.add(id)
      if (source) notes.write(id, { started: true, due: undefined })
      afterCompaction.delete(id)
    }),

    // A compaction within a turn: the model goes on without a new prompt, so until there is one its context
    // stands in the system prompt (which is not kept).
    "experimental.chat.system.transform": guarded(async (input, output) => {
      const id = input?.sessionID
      const note = notes.read(id)
      if (!id || !Array.isArray(output?.system) || note.due !== "compact" || note.parent) return
      const text = await startDue(id, "compact")
      if (text) output.system.push(text)
    }),

    "tool.execute.after": guarded(async (input, output) => {
      const { title, output: text, metadata } = output ?? {}
      await record({ hook: "tool.execute.after", input, output: { title, output: text, metadata } }, input?.sessionID)
    }),
  }
}
