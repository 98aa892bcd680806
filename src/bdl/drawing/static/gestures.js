// Mouse, pen and fingers on the plot: pan, zoom, pinch, tap.
// A press is offered to `grab(x, y, event)`; what it returns gets `move(x, seconds)` and `end(x, done)`, else the press pans.
export const gestures = (scene, { grab = () => null, tap = () => {}, wheel = () => true }) => {
  const { plot } = scene, { box } = plot, down = new Map();
  let action = null;
  const place = (event) => { const frame = box.getBoundingClientRect(); return [event.clientX - frame.left, event.clientY - frame.top]; };
  const panning = (view) => ({ move: (_, seconds) => scene.look(view.from - seconds, view.to - seconds), end: () => {} });

  box.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!scene.info || (!sideways && !wheel(event))) return;
    event.preventDefault();
    const [x] = place(event), size = event.deltaMode ? 30 : 1;
    if (sideways) scene.pan(((event.deltaX || event.deltaY) * size) / plot.width);
    else scene.zoom(Math.exp(event.deltaY * size * (event.ctrlKey ? 0.01 : 0.0015)), plot.time(x));
  }, { passive: false });

  box.addEventListener("pointerdown", (event) => {
    if (!scene.info || event.button) return;
    box.setPointerCapture(event.pointerId);
    const [x, y] = place(event);
    down.set(event.pointerId, x);
    if (down.size > 1) {
      action?.end?.(x, false);
      action = { pinch: true };
    } else action = { x, view: { ...scene.view }, moved: false, ...(grab(x, y, event) ?? { ...panning({ ...scene.view }), tap: true }) };
  });

  box.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId) || !action) return;
    const [x] = place(event), before = down.get(event.pointerId);
    down.set(event.pointerId, x);
    if (action.pinch) {
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
      if (other === undefined) return;
      const spread = Math.abs(before - other), now = Math.abs(x - other);
      if (spread > 4 && now > 4) scene.zoom(spread / now, plot.time((x + other) / 2));
      scene.pan(-((x - before) / 2) / plot.width);
      return;
    }
    if (!action.moved && Math.abs(x - action.x) < 3) return;
    action.moved = true;
    action.move(x, (x - action.x) / plot.width * (action.view.to - action.view.from));
  });

  const up = (event) => {
    if (!down.delete(event.pointerId) || down.size) return;
    const ended = action, [x] = place(event), done = event.type === "pointerup";
    action = null;
    if (!ended || ended.pinch) return;
    if (ended.tap && !ended.moved && done) tap(x);
    else ended.end(x, done && ended.moved);
  };
  box.addEventListener("pointerup", up);
  box.addEventListener("pointercancel", up);
};
