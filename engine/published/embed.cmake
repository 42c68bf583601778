# cmake -DOUTPUT=… -DTABLE=… -DHEADER=… -DFUNCTION=… -P embed.cmake: the table as text in a C++ source.
file(READ "${TABLE}" text)
file(WRITE "${OUTPUT}" "#include \"engine/published/${HEADER}\"\n\nnamespace heddle::published {\n\n"
  "const char* ${FUNCTION}() {\n  return R\"csv(${text})csv\";\n}\n\n}  // namespace heddle::published\n")
