// Requests to the server on this machine; the token travels as a cookie.
export class ApiError extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

const read = async (answer) => {
  if (answer.ok) return answer;
  let message = `${answer.status}`;
  const text = await answer.text();
  try { message = JSON.parse(text).error ?? text; } catch { message = text || message; }
  throw new ApiError(message, answer.status);
};
const send = async (path, options) => {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ApiError("bdl explore does not answer; was it ended?", 0);
  }
  return read(answer);
};

export const get = async (path) => (await send(path)).json();
export const post = async (path, body) => (await send(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
})).json();
export const numbers = async (path) => new Float32Array(await (await send(path)).arrayBuffer());
