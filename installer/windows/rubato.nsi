; The installer for Windows, for one person. Made by `python -m installer.windows`, which names
; FILES (what is laid down), TARGET, VERSION, NUMBERS (the version as four numbers) and ROOM_KB.
;
;   rubato-VERSION-windows.exe /S                 silently; packages come at the first start
;   rubato-VERSION-windows.exe /S /D=C:\Rubato    elsewhere (/D is last and takes no quotes); the
;                                                folder is named Rubato, else one is made in it
;   uninstall.exe /S [/REMOVE_OWN_FILES]          voices and conversations stay unless it is given

Unicode true
Target amd64-unicode
RequestExecutionLevel user
ManifestDPIAware true
ManifestLongPathAware true
ManifestSupportedOS Win10
SetCompressor /SOLID lzma
!include MUI2.nsh
!include WinVer.nsh
!include FileFunc.nsh
!include LogicLib.nsh

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Rubato"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define RUNTIME "SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64"
!define RUNTIME_PAGE "https://aka.ms/vc14/vc_redist.x64.exe"

Name "Rubato"
OutFile "${TARGET}"
InstallDir "$LOCALAPPDATA\Programs\Rubato"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
BrandingText "Rubato ${VERSION}"
VIProductVersion "${NUMBERS}"
VIAddVersionKey ProductName "Rubato"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "Rubato, a desktop voice assistant"
VIAddVersionKey LegalCopyright "GPL-3.0-or-later"

!define MUI_ICON "${FILES}\rubato.ico"
!define MUI_UNICON "${FILES}\rubato.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\Rubato.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start Rubato"
!insertmacro MUI_PAGE_LICENSE "${FILES}\LICENSE.txt"
!define MUI_COMPONENTSPAGE_NODESC
!insertmacro MUI_PAGE_COMPONENTS
!define MUI_PAGE_CUSTOMFUNCTION_LEAVE UseOwnFolder
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Ends with status 2 and a sentence while a Rubato of $INSTDIR runs: Windows keeps its files.
!macro REFUSE_WHILE_RUNNING
  ClearErrors
  ${If} ${FileExists} "$INSTDIR\python\pythonw.exe"
    FileOpen $0 "$INSTDIR\python\pythonw.exe" a
    ${If} ${Errors}
      MessageBox MB_ICONEXCLAMATION "Rubato is running. Quit it, with Quit in its menu or tray, and try again." /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

; Folders in $INSTDIR are replaced and removed, so it must not be one with other programs' files.
Function UseOwnFolder
  ${GetFileName} "$INSTDIR" $0
  ${If} $0 != "Rubato"
  ${AndIfNot} ${FileExists} "$INSTDIR\release\payload.json"
    StrCpy $INSTDIR "$INSTDIR\Rubato"
  ${EndIf}
FunctionEnd

Function .onInit
  ${IfNot} ${AtLeastWin10}
    MessageBox MB_ICONSTOP "Rubato needs Windows 10 or later." /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
  Call UseOwnFolder
  !insertmacro REFUSE_WHILE_RUNNING
  SetRegView 64
  ReadRegDWORD $0 HKLM "${RUNTIME}" "Minor"
  ${IfNot} ${FileExists} "$SYSDIR\msvcp140.dll"
    StrCpy $0 0
  ${EndIf}
  ${If} $0 < 40
    MessageBox MB_YESNO|MB_ICONQUESTION "Rubato needs Microsoft's Visual C++ runtime 14.40 or later, which is missing or too old here. Open its download now? (${RUNTIME_PAGE}; it asks for an administrator once.)" /SD IDNO IDNO later
    ExecShell "open" "${RUNTIME_PAGE}"
    later:
  ${EndIf}
FunctionEnd

Section "Rubato" SEC_RUBATO
  SectionIn RO
  AddSize ${ROOM_KB}
  RMDir /r "$INSTDIR\release"  ; what is laid down replaces an older one whole
  RMDir /r "$INSTDIR\python"
  RMDir /r "$INSTDIR\bin"
  ClearErrors
  SetOutPath "$INSTDIR"
  File /r "${FILES}\*.*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Rubato.lnk" "$INSTDIR\Rubato.exe" "" "$INSTDIR\rubato.ico"
  ${If} ${Errors}
    MessageBox MB_ICONSTOP "Not everything could be written to $INSTDIR. See that the disk has room, and try again." /SD IDOK
    SetErrorLevel 4
    Quit
  ${EndIf}
  WriteRegStr HKCU "${KEY}" "DisplayName" "Rubato"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\rubato.ico"
  WriteRegStr HKCU "${KEY}" "Publisher" "Rubato"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" ${ROOM_KB}
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

; In a window each package is named as it comes; silently the first start fetches them.
Section "Fetch its packages now (430 MB)" SEC_PACKAGES
  ${If} ${Silent}
    Return
  ${EndIf}
  DetailPrint "This takes some minutes. What is broken off goes on at the first start."
  nsExec::ExecToLog '"$INSTDIR\bin\rubato.exe" install'
  Pop $0
  ${If} $0 != 0
    DetailPrint "Not everything could be fetched; the first start of Rubato tries again."
  ${EndIf}
SectionEnd

Function un.onInit
  !insertmacro REFUSE_WHILE_RUNNING
FunctionEnd

Section "Uninstall"
  StrCpy $1 "--keep-own-files"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/REMOVE_OWN_FILES" $2
  ${IfNot} ${Errors}
    StrCpy $1 "--remove-own-files"
  ${EndIf}
  MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "Remove your voices, conversations, models and settings as well?" /SD IDNO IDNO keep
  StrCpy $1 "--remove-own-files"
  keep:
  nsExec::ExecToLog '"$INSTDIR\bin\rubato.exe" uninstall $1'
  Pop $0
  DeleteRegValue HKCU "${RUN}" "org.rubato.Rubato"
  DeleteRegKey HKCU "${KEY}"
  Delete "$SMPROGRAMS\Rubato.lnk"
  RMDir /r "$INSTDIR\release"
  RMDir /r "$INSTDIR\python"
  RMDir /r "$INSTDIR\bin"
  Delete "$INSTDIR\Rubato.exe"
  Delete "$INSTDIR\rubato.ico"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"  ; stays where the person keeps something in it
SectionEnd
